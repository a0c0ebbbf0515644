// Calls of tools that only the messages of a model show: libraries that record the model alone have no span for a tool.
import { readable } from '../exact.js'
import { argumentsOf, type Body, callId } from '../step-body.js'
import type { Meanings } from '../tools.js'
import type { ToolCall } from '../transcript.js'
import { type Act, createOrdinals, type Origins } from './act.js'
import { callIdNames } from './conventions.js'
import { spanOrigin } from './evidence.js'
import type { SpanMessage } from './messages.js'
import { nameIn, toolNameOf } from './operation.js'
import type { Span } from './span.js'
import type { Subagent } from './tree.js'

export interface CalledTool extends Pick<Act, 'time' | 'origins' | 'needs' | 'unless'> {
  /** The span of the model that asked for the call, or that received its answer. */
  readonly span: Span
  readonly subagent: Subagent | null
  readonly call: ToolCall
  /** Undefined when no later message has the answer. */
  readonly answer: unknown
}

type Shown = Pick<CalledTool, 'span' | 'subagent' | 'call' | 'answer'>
type Called = Pick<CalledTool, 'span' | 'subagent' | 'call'> & { readonly key: string; readonly is_asked: boolean }

/** `isComplete`: whether all spans of the trace of this one are known, so that no answer and no span can follow. */
export function createCalls(isComplete: (span: Span) => boolean) {
  const called = new Map<string, Called>()
  const answers = new Map<string, unknown>()
  const ids = new Set<string>()
  /** Spans of tools without the id of their call, by name. */
  const nameless = new Map<string, number>()
  let spans = 0

  const hasSpan = ({ id, name }: ToolCall): boolean => {
    if (id !== null && ids.has(id)) return true
    const open = nameless.get(name) ?? 0
    nameless.set(name, open - 1)
    return open > 0
  }
  const note = (span: Span, subagent: Subagent | null, call: ToolCall, key: string, is_asked: boolean) => {
    const known = called.get(key)
    if (known === undefined || (is_asked && !known.is_asked)) called.set(key, { span, subagent, call, key, is_asked })
  }

  return {
    add: (span: Span, subagent: Subagent | null, input: readonly SpanMessage[], output: readonly SpanMessage[]) => {
      // Some models use an id again: the second call of an id has the second answer.
      const callOf = createOrdinals()
      const answerOf = createOrdinals()
      for (const message of input) {
        for (const call of message.tool_calls)
          if (call.id !== null) note(span, subagent, call, `${call.id}:${callOf(call.id)}`, false)
        for (const { id, result } of message.answers) if (id !== null) answers.set(`${id}:${answerOf(id)}`, result)
      }
      for (const call of output.flatMap((message) => message.tool_calls)) {
        const key = call.id === null ? `${spanOrigin(span)}/${called.size}` : `${call.id}:${callOf(call.id)}`
        note(span, subagent, call, key, true)
      }
    },
    addSpan: (span: Span) => {
      spans += 1
      const id = callIdOf(span)
      const name = toolNameOf(span)
      if (id === null) nameless.set(name, (nameless.get(name) ?? 0) + 1)
      else ids.add(id)
    },
    /** If tools have spans, a call without one has happened only if it was answered. */
    withoutSpan: (): CalledTool[] =>
      [...called.values()]
        .filter(({ call }) => !hasSpan(call))
        .map((each) => ({ ...each, answer: answers.get(each.key) }))
        .filter(({ answer, span }) => answer !== undefined || (spans === 0 && isComplete(span)))
        .map(({ key, is_asked, ...each }) => ({ ...each, ...factsOf(each, key, is_asked) })),
  }
}

/** The call of a model that this request does not have was made in this task only if an earlier request had it. */
function factsOf({ span, call: { id }, answer }: Shown, key: string, is_asked: boolean) {
  const shown = id === null || !key.endsWith(':1') ? [] : [shownOrigin(id)]
  return {
    // A model received its input before its call.
    time: is_asked ? (span.end ?? span.start) : span.start - 1n,
    origins: [`call:${key}`, ...shown] as const satisfies Origins,
    ...(!is_asked && id !== null && { needs: askedOrigin(id) }),
    unless: [...(id === null ? [] : [toolOrigin(id)]), ...(answer === undefined ? [toolsOrigin(span)] : [])],
  }
}

/** Of a step that only messages show. */
function shownOrigin(id: string): string {
  return `shown:${id}`
}

/** Of the step of a model that asked for a call. */
export function askedOrigin(id: string): string {
  return `asked:${id}`
}

function toolOrigin(id: string): string {
  return `tool:${id}`
}

/** Of the first span of a tool in a trace. */
function toolsOrigin({ trace_id }: Span): string {
  return `tools:${trace_id}`
}

/** The origins of the step of a tool's span. Messages may have shown the call before. */
export function toolOrigins(span: Span): Pick<Act, 'origins' | 'same_as'> {
  const id = callIdOf(span)
  if (id === null) return { origins: [spanOrigin(span), toolsOrigin(span)] }
  return {
    origins: [spanOrigin(span), `call:${id}:1`, toolOrigin(id), toolsOrigin(span)],
    same_as: shownOrigin(id),
  }
}

export function callIdOf({ attributes }: Span): string | null {
  return nameIn(attributes, ...callIdNames)
}

/** The step of a call; `answer` is undefined for a call without one. */
export function toolBody(call: ToolCall, answer: unknown, meanings: Meanings): Body {
  const { step_type, verb, properties = {} } = meanings(call.name)
  return {
    step_type,
    ...(verb !== undefined && { verb }),
    step_name: call.name,
    input: argumentsOf(call),
    ...(answer !== undefined && { output: { content: readable(answer) } }),
    properties: call.id === null ? properties : { ...properties, ...callId(call.id, properties.tool) },
  }
}
