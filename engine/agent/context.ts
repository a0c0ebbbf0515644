// What rules see of an agent while it works: what is registered, and what the caller says of it now (docs/design/engine.md §2). It is
// one set of facts: a context that leaves something out means what is registered, so `context.x` and `agent.x` agree.
import type { Agent, EvaluationContext, JsonMap } from '@svc/schemas'
import { compareLevels } from './risk.js'

export type ReportedContext = Partial<EvaluationContext>

/** Where nobody else knows the agent, what is said of it counts; both names of its tools mean the same. */
export function factsAsReported(registered: JsonMap, { agent_allowed_tools, ...said }: ReportedContext): JsonMap {
  const declared_tools = said.declared_tools ?? agent_allowed_tools
  return { ...registered, ...said, ...(declared_tools !== undefined && { declared_tools }) }
}

/**
 * Where the platform knows the agent, a context may tighten what is registered (a higher risk, fewer tools) and add what
 * is not, never loosen it.
 */
export function factsTightened(registered: JsonMap, { agent_allowed_tools, ...said }: ReportedContext): JsonMap {
  const known = registered.risk_classification as Agent['risk_classification']
  const level = said.risk_classification
  const risk_classification = level !== undefined && compareLevels(level, known) > 0 ? level : known
  const declared_tools = fewerTools(registered.declared_tools, said.declared_tools ?? agent_allowed_tools)
  return { ...said, ...registered, risk_classification, declared_tools }
}

function fewerTools(registered: unknown, said: EvaluationContext['declared_tools']): unknown {
  if (said === undefined) return registered
  if (!Array.isArray(registered)) return said
  const names = new Set(registered.map(nameOf))
  return said.filter((tool) => names.has(nameOf(tool)))
}

function nameOf(tool: string | { readonly name: string }): string {
  return typeof tool === 'string' ? tool : tool.name
}
