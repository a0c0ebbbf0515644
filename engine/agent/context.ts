// The facts about an agent that rules read: its registration, and the context that the caller reports
// (docs/design/engine.md §2). They are one set: a member that the context leaves out has the registered value, so that
// `context.x` and `agent.x` agree.
import type { Agent, EvaluationContext, JsonMap } from '@svc/schemas'
import { registeredMember, registeredTools } from '../rules/selection/task-tools.js'
import { compareLevels } from './risk.js'

export type ReportedContext = Partial<EvaluationContext>

/** The facts without a platform: the context overrides the registration. `agent_allowed_tools` is an alias of `declared_tools`. */
export function factsAsReported(registered: JsonMap, { agent_allowed_tools, ...reported }: ReportedContext): JsonMap {
  const declared_tools = reported.declared_tools ?? agent_allowed_tools
  if (declared_tools === undefined) return { ...registered, ...reported }
  return { ...registered, ...reported, declared_tools, [registeredMember]: registeredTools(registered) }
}

/**
 * The facts with a platform, which knows the agent: the context can tighten the registration (a higher risk level, fewer
 * tools) and add members, but not loosen it.
 */
export function factsTightened(registered: JsonMap, { agent_allowed_tools, ...reported }: ReportedContext): JsonMap {
  const known = registered.risk_classification as Agent['risk_classification']
  const level = reported.risk_classification
  const risk_classification = level !== undefined && compareLevels(level, known) > 0 ? level : known
  const own = reported.declared_tools ?? agent_allowed_tools
  const declared_tools = fewerTools(registered.declared_tools, own)
  const facts = { ...reported, ...registered, risk_classification, declared_tools }
  return own === undefined ? facts : { ...facts, [registeredMember]: registeredTools(registered) }
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
