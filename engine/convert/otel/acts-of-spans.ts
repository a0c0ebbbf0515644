// The acts of each span of a task, and those that only all spans together show.
import type { Meanings } from '../tools.js'
import type { Act } from './act.js'
import { askedOrigin, createCalls, toolBody, toolOrigins } from './calls.js'
import { idsOf, spanOrigin } from './evidence.js'
import { answered, received, returned } from './message-steps.js'
import { inputOf, outputOf } from './messages.js'
import { operationOf } from './operation.js'
import { ownBody } from './own-step.js'
import type { Sliced } from './sliced.js'
import type { Span } from './span.js'
import { delegation, modelBody, otherBody, toolSpanBody } from './span-bodies.js'
import type { SpanTree } from './tree.js'

/** In the order of the tree; an act that several spans show is there several times, with the same identity. */
export function* actsOfSpans(tree: SpanTree, meanings: Meanings, isComplete: (span: Span) => boolean): Sliced<Act[]> {
  const calls = createCalls(isComplete)

  const ofModel = (span: Span): Act[] => {
    const subagent = tree.subagentOf(span)
    const output = outputOf(span)
    calls.add(span, subagent, inputOf(span), output)
    const asked = output.flatMap(({ tool_calls }) => tool_calls.flatMap(({ id }) => (id === null ? [] : [id])))
    const step: Act = {
      ...placeOf(span),
      subagent,
      body: modelBody(span, output),
      origins: [spanOrigin(span), ...asked.map(askedOrigin)],
    }
    return [...received(span, subagent), step, ...answered(span, subagent, output)]
  }
  const ofTool = (span: Span): Act[] => {
    calls.addSpan(span)
    const body = toolSpanBody(span, meanings)
    return [{ ...placeOf(span), subagent: tree.subagentOf(span), body, ...toolOrigins(span) }]
  }
  const ofAgent = (span: Span): Act[] => {
    if (tree.isMain(span)) return received(span, null)
    const isFirst = tree.subagentOf(span)?.span === span
    if (!isFirst || tree.spawnOf(span) !== span) return []
    return [{ ...placeOf(span), subagent: tree.callerOf(span), body: delegation(span), origins: [spanOrigin(span)] }]
  }
  const actsOf = (span: Span): Act[] => {
    const operation = operationOf(span)
    switch (operation?.kind) {
      case 'model':
        return ofModel(span)
      case 'tool':
        return ofTool(span)
      case 'agent':
        return ofAgent(span)
      case 'own':
        return [{ ...placeOf(span), subagent: null, body: ownBody(span), origins: [spanOrigin(span)] }]
      case 'step': {
        const body = otherBody(span, operation)
        return [{ ...placeOf(span), subagent: tree.subagentOf(span), body, origins: [spanOrigin(span)] }]
      }
      default:
        return []
    }
  }

  const shown: Act[] = []
  for (const span of tree.spans) {
    for (const act of actsOf(span)) shown.push(act)
    yield
  }
  const called = calls.withoutSpan().map(({ span, call, answer, ...others }): Act => {
    const body = toolBody(call, answer, meanings)
    return { ...others, span: null, shown_by: span, body: { ...body, meta: { otel: idsOf(span) } } }
  })
  const last = tree.spans.filter(tree.isMain).flatMap((span) => returned(span, null, outputOf(span)))
  return [...shown, ...called, ...last]
}

function placeOf(span: Span): Pick<Act, 'time' | 'span' | 'shown_by'> {
  return { time: span.start, span, shown_by: span }
}
