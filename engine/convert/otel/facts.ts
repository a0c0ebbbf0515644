// Facts of each span that a first reading notes, so that a second one can convert one task after the other.
import { outputOf } from './messages.js'
import { nameIn, operationOf, toolNameOf } from './operation.js'
import type { Span } from './span.js'

/** The tools that a span names: the one that it called, or those that the model asked for. */
export function toolsOfSpan(span: Span): string[] {
  const kind = operationOf(span)?.kind
  if (kind === 'tool') return [toolNameOf(span)]
  return kind === 'model' ? outputOf(span).flatMap(({ tool_calls }) => tool_calls.map(({ name }) => name)) : []
}

/** The conversation that a span belongs to; null when it names none. */
export function conversationOf({ attributes }: Span): string | null {
  return nameIn(attributes, 'gen_ai.conversation.id')
}

const none: ReadonlyMap<string, unknown> = new Map()

/** The span as the tree needs it; only acts of agents keep their content. */
export function leanSpan(span: Span): Span {
  return operationOf(span) === null ? { ...span, attributes: none, resource: none, events: [] } : span
}

/** True for a span that an exporter sent twice. */
export function isSameSpan(one: Span, other: Span): boolean {
  return contentOf(one) === contentOf(other)
}

/** A text that two spans have in common only if they are the same. */
export function contentOf({ start, end, name, parent_id, attributes, events, error }: Span): string {
  const given = events.map((event) => [event.name, [...event.attributes]])
  return JSON.stringify([`${start}`, `${end}`, name, parent_id, [...attributes], given, error])
}
