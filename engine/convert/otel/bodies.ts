// The steps of each span of a task, and those that only all spans together show.
import type { Meanings } from '../tools.js'
import { type CalledTool, createCalls, toolBody } from './calls.js'
import { idsOf } from './evidence.js'
import { createMessages } from './message-steps.js'
import { inputOf, outputOf } from './messages.js'
import { operationOf } from './operation.js'
import { ownBody } from './own-step.js'
import type { Span } from './span.js'
import { delegation, modelBody, otherBody, toolSpanBody } from './span-bodies.js'
import type { TimedBody } from './timed-body.js'
import type { SpanTree } from './tree.js'

export interface Bodies {
  /** The steps of a span; the spans come in the order of the tree. */
  readonly of: (span: Span) => TimedBody[]
  /** The steps that all spans together show: calls without a span, and the last answer of the agent. */
  readonly rest: () => TimedBody[]
}

export function createBodies(tree: SpanTree, meanings: Meanings): Bodies {
  const messages = createMessages()
  const calls = createCalls()

  const ofModel = (span: Span): TimedBody[] => {
    const subagent = tree.subagentOf(span)
    const output = outputOf(span)
    calls.add(span, subagent, inputOf(span), output)
    const step = { time: span.start, span, subagent, body: modelBody(span, output) }
    // An answer that is the same as an earlier one is a message of its own.
    messages.forgetSent(subagent)
    return [...messages.received(span, subagent), step, ...messages.sent(span, subagent, output)]
  }
  const ofTool = (span: Span): TimedBody[] => {
    calls.addSpan(span)
    return [{ time: span.start, span, subagent: tree.subagentOf(span), body: toolSpanBody(span, meanings) }]
  }
  const ofAgent = (span: Span): TimedBody[] => {
    if (tree.isMain(span)) return messages.received(span, null)
    const isFirst = tree.subagentOf(span)?.span === span
    if (!isFirst || tree.spawnOf(span) !== span) return []
    return [{ time: span.start, span, subagent: tree.callerOf(span), body: delegation(span) }]
  }

  return {
    of: (span) => {
      const operation = operationOf(span)
      switch (operation?.kind) {
        case 'model':
          return ofModel(span)
        case 'tool':
          return ofTool(span)
        case 'agent':
          return ofAgent(span)
        case 'own':
          return [{ time: span.start, span, subagent: null, body: ownBody(span) }]
        case 'step':
          return [{ time: span.start, span, subagent: tree.subagentOf(span), body: otherBody(span, operation) }]
        default:
          return []
      }
    },
    rest: () => [
      ...calls.withoutSpan().map(({ span, subagent, call, answer }: CalledTool) => {
        const body = toolBody(call, answer, meanings)
        return { time: span.end ?? span.start, span: null, subagent, body: { ...body, meta: { otel: idsOf(span) } } }
      }),
      ...tree.spans.filter(tree.isMain).flatMap((span) => messages.sent(span, null, outputOf(span))),
    ],
  }
}
