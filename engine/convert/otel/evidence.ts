// The parts of its span that a step keeps besides its own members.
import type { JsonMap } from '@svc/schemas'
import { eachShallow } from '../step-body.js'
import type { Span, SpanError } from './span.js'

/** The span of a step: its ids, its name, and the attributes that are not in the step itself. */
export function evidenceOf(span: Span, contents: ReadonlySet<string>): JsonMap {
  const others = [...span.attributes].filter(([key]) => !contents.has(key) && !contents.has(prefixOf(key)))
  return { ...idsOf(span), name: span.name, attributes: eachShallow(Object.fromEntries(others)) }
}

/** Of an attribute of a message, such as `gen_ai.prompt.0.content`. */
function prefixOf(key: string): string {
  return key.replace(/\.\d{1,4}\..*$/s, '')
}

/** The span that a step is derived of. */
export function idsOf({ trace_id, span_id, parent_id }: Span): JsonMap {
  return { trace_id, span_id, ...(parent_id !== null && { parent_span_id: parent_id }) }
}

/** The origin of the step that stands for the span. */
export function spanOrigin({ trace_id, span_id }: Span): string {
  return `span:${trace_id}/${span_id}`
}

/** The output of a step that failed. */
export function errorView(error: SpanError): JsonMap {
  const known = Object.entries(error).filter(([, value]) => value !== null)
  return { status: 'error', ...(known.length > 0 && { error: Object.fromEntries(known) }) }
}
