// The messages that the user and the callers of sub-agents wrote and read, as steps.
import type { JsonMap } from '@svc/schemas'
import { type Body, hasText } from '../step-body.js'
import { type Act, createOrdinals, type Origins } from './act.js'
import { idsOf, spanOrigin } from './evidence.js'
import { inputOf, type SpanMessage } from './messages.js'
import type { Span } from './span.js'
import type { Subagent } from './tree.js'

/**
 * The messages that the span received. A model gets the whole conversation again at each call, so that the identity of a
 * message is its content, and its number among equal ones of the list.
 */
export function received(span: Span, subagent: Subagent | null): Act[] {
  const ordinalOf = createOrdinals()
  return inputOf(span).flatMap(({ role, content }) => {
    if (role !== 'user' || content === null) return []
    const text = JSON.stringify(content)
    const origin = `received:${partyOf(subagent)}:${ordinalOf(text)}:${text}`
    return [derived(span, span.start, subagent, receipt(content, subagent), [origin])]
  })
}

/** The answer of a model. The same answer to another call is a separate message. */
export function answered(span: Span, subagent: Subagent | null, output: readonly SpanMessage[]): Act[] {
  return dispatches(span, subagent, output, (text, index) => ({
    origins: [`${spanOrigin(span)}/sent/${index}`, `sent:${text}`],
    same_as: `returned:${text}`,
  }))
}

/** The result of an invocation: mostly the last answer of its model, which can arrive after it. */
export function returned(span: Span, subagent: Subagent | null, output: readonly SpanMessage[]): Act[] {
  return dispatches(span, subagent, output, (text) => ({ origins: [`sent:${text}`, `returned:${text}`] }))
}

/** `originsOf` gets the text of a message with its trace, its sender, and its number among equal ones. */
function dispatches(
  span: Span,
  subagent: Subagent | null,
  output: readonly SpanMessage[],
  originsOf: (text: string, index: number) => Pick<Act, 'origins' | 'same_as'>,
): Act[] {
  const ordinalOf = createOrdinals()
  const contents = output.map(({ content }) => content).filter(hasText)
  return contents.map((content, index) => {
    const text = JSON.stringify(content)
    const shared = `${span.trace_id}:${partyOf(subagent)}:${ordinalOf(text)}:${text}`
    const { origins, ...others } = originsOf(shared, index)
    return { ...derived(span, span.end ?? span.start, subagent, dispatch(content, subagent), origins), ...others }
  })
}

function derived(span: Span, time: bigint, subagent: Subagent | null, body: Body, origins: Origins): Act {
  return { time, span: null, shown_by: span, subagent, body: { ...body, meta: { otel: idsOf(span) } }, origins }
}

function partyOf(subagent: Subagent | null): string {
  return subagent === null ? 'main' : `${subagent.span.trace_id}/${subagent.span.span_id}`
}

/** Messages of the user are written by the user only to the agent of the task; a sub-agent gets them of its caller. */
function counterpartOf(subagent: Subagent | null): JsonMap {
  return { counterpart: { kind: subagent === null ? 'user' : 'agent' } }
}

function receipt(content: unknown, subagent: Subagent | null): Body {
  return { step_type: 'step.message', verb: 'GET', output: { content }, properties: counterpartOf(subagent) }
}

function dispatch(content: unknown, subagent: Subagent | null): Body {
  return { step_type: 'step.message', verb: 'POST', input: { content }, properties: counterpartOf(subagent) }
}
