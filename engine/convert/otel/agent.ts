// The agent of a task: the one whose invocation started first, else the one that a span or the resource names.
import { type AgentName, agentNameOf, nameIn, operationOf } from './operation.js'
import type { Span } from './span.js'

/** An agent that a span names, with what decides between the spans of a task. */
export interface AgentClaim {
  readonly name: AgentName
  /** `gen_ai.agent.id` of the resource, which all spans of a program have. */
  readonly resource_id: string | null
  /** `service.name` of the resource; null for the name that libraries use when none was set. */
  readonly service: string | null
  readonly is_invocation: boolean
  readonly has_parent: boolean
  readonly start: bigint
  readonly span_id: string
}

export function claimOf(span: Span): AgentClaim {
  const { start, span_id, parent_id, resource } = span
  const service = nameIn(resource, 'service.name')
  const is_invocation = operationOf(span)?.kind === 'agent'
  return {
    name: is_invocation
      ? agentNameOf(span)
      : { id: nameIn(span.attributes, 'gen_ai.agent.id'), name: nameIn(span.attributes, 'gen_ai.agent.name') },
    resource_id: nameIn(resource, 'gen_ai.agent.id'),
    service: service?.startsWith('unknown_service') === true ? null : service,
    is_invocation,
    has_parent: parent_id !== null,
    start,
    span_id,
  }
}

/** The claim that counts: an invocation before others, the earlier, the one without a parent. */
export function strongerClaim(one: AgentClaim, other: AgentClaim): AgentClaim {
  if (one.is_invocation !== other.is_invocation) return one.is_invocation ? one : other
  if (one.start !== other.start) return one.start < other.start ? one : other
  if (one.has_parent !== other.has_parent) return one.has_parent ? other : one
  return one.span_id <= other.span_id ? one : other
}

/** The key of the agent: its id, else its name, else its service; null when none of them can be a key. */
export function agentKeyOf({ resource_id, name: { id, name }, service }: AgentClaim): string | null {
  return [resource_id, id, name, service].find(isKey) ?? null
}

/**
 * The key of the agent where its spans arrive one after the other: the first of them may be a call of a model, which names
 * its service, and no agent. So the service counts before the name.
 */
export function streamKeyOf({ resource_id, name: { id, name }, service }: AgentClaim): string {
  return [resource_id, id, service, name].find(isKey) ?? 'unknown_service'
}

function isKey(key: string | null): key is string {
  return key !== null && /^[ -~]{1,200}$/.test(key)
}
