// The facts about an agent that rules read: its registration, and the context that the caller reports
// (docs/design/engine.md §2). They are one set: a member that the context leaves out has the registered value, so that
// `context.x` and `agent.x` agree.
import type { Agent, EvaluationContext, JsonMap } from '@svc/schemas'
import { compareLevels } from './risk.js'

export type ReportedContext = Partial<EvaluationContext>

/** The facts without a platform: the context overrides the registration. `agent_allowed_tools` is an alias of `declared_tools`. */
export function factsAsReported(registered: JsonMap, { agent_allowed_tools, ...reported }: ReportedContext): JsonMap {
  const declared_tools = reported.declared_tools ?? agent_allowed_tools
  return { ...registered, ...reported, ...(declared_tools !== undefined && { declared_tools }) }
}

/**
 * The facts with a platform, which knows the agent: the context can tighten the registration (a higher risk level, fewer
 * tools) and add members, but not loosen it.
 */
export function factsTightened(registered: JsonMap, { agent_allowed_tools, ...reported }: ReportedContext): JsonMap {
  const known = registered.risk_classification as Agent['risk_classification']
  const level = reported.risk_classification
  const risk_classification = level !== undefined && compareLevels(level, known) > 0 ? level : known
  const declared_tools = fewerTools(registered.declared_tools, reported.declared_tools ?? agent_allowed_tools)
  return { ...reported, ...registered, risk_classification, declared_tools }
}

function fewerTools(registered: unknown, reported: EvaluationContext['declared_tools']): unknown {
  if (reported === undefined) return registered
  if (!Array.isArray(registered)) return reported
  const names = new Set(registered.map(nameOf))
  return reported.filter((tool) => names.has(nameOf(tool)))
}

function nameOf(tool: string | { readonly name: string }): string {
  return typeof tool === 'string' ? tool : tool.name
}
