// What the user and the callers of sub-agents wrote and read, as steps.
import type { JsonMap } from '@svc/schemas'
import { type Body, hasText } from '../step-body.js'
import { idsOf } from './evidence.js'
import { inputOf, type SpanMessage } from './messages.js'
import type { Span } from './span.js'
import type { TimedBody } from './timed-body.js'
import type { Subagent } from './tree.js'

export function createMessages() {
  const received = createSeen()
  const sent = createSeen()
  const derived = (span: Span, time: bigint, subagent: Subagent | null, body: Body): TimedBody => ({
    time,
    span: null,
    subagent,
    body: { ...body, meta: { otel: idsOf(span) } },
  })
  return {
    /** The messages in the input of the span that no earlier one had. */
    received: (span: Span, subagent: Subagent | null): TimedBody[] => {
      const contents = inputOf(span).flatMap(({ role, content }) =>
        role === 'user' && content !== null ? [content] : [],
      )
      const fresh = received.freshOf(subagent, contents)
      return fresh.map((content) => derived(span, span.start, subagent, receipt(content, subagent)))
    },
    /** The texts in the output of the span that were not sent since the last call of `forgetSent`. */
    sent: (span: Span, subagent: Subagent | null, output: readonly SpanMessage[]): TimedBody[] => {
      const fresh = sent.freshOf(subagent, output.map(({ content }) => content).filter(hasText))
      return fresh.map((content) => derived(span, span.end ?? span.start, subagent, dispatch(content, subagent)))
    },
    forgetSent: (subagent: Subagent | null): void => sent.forget(subagent),
  }
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

/** Contents that were given before: a model gets the whole conversation again at each call. */
function createSeen() {
  const seen = new Map<Subagent | null, Map<string, number>>()
  return {
    /** The contents that are there more often than in any list before. */
    freshOf: (subagent: Subagent | null, contents: readonly unknown[]): unknown[] => {
      const before = seen.get(subagent) ?? new Map<string, number>()
      seen.set(subagent, before)
      const now = new Map<string, number>()
      return contents.filter((content) => {
        const key = JSON.stringify(content)
        const count = (now.get(key) ?? 0) + 1
        now.set(key, count)
        if (count <= (before.get(key) ?? 0)) return false
        before.set(key, count)
        return true
      })
    },
    forget: (subagent: Subagent | null): void => {
      seen.delete(subagent)
    },
  }
}
