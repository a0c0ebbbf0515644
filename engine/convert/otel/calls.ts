// Calls of tools that only the messages of a model show: libraries that record the model alone have no span for a tool.
import { readable } from '../exact.js'
import { argumentsOf, type Body, callId } from '../step-body.js'
import type { Meanings } from '../tools.js'
import type { ToolCall } from '../transcript.js'
import type { SpanMessage } from './messages.js'
import { nameIn, toolNameOf } from './operation.js'
import type { Span } from './span.js'
import type { Subagent } from './tree.js'

export interface CalledTool {
  /** The span of the model that asked for the call. */
  readonly span: Span
  readonly subagent: Subagent | null
  readonly call: ToolCall
  /** Undefined when no later message has the answer. */
  readonly answer: unknown
}

export function createCalls() {
  const called = new Map<string, Omit<CalledTool, 'answer'>>()
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

  return {
    add: (span: Span, subagent: Subagent | null, input: readonly SpanMessage[], output: readonly SpanMessage[]) => {
      for (const { id, result } of input.flatMap((message) => message.answers)) if (id !== null) answers.set(id, result)
      for (const call of output.flatMap((message) => message.tool_calls)) {
        const key = call.id ?? `${span.trace_id} ${span.span_id} ${called.size}`
        if (!called.has(key)) called.set(key, { span, subagent, call })
      }
    },
    addSpan: (span: Span) => {
      spans += 1
      const id = nameIn(span.attributes, 'gen_ai.tool.call.id', 'ai.toolCall.id')
      const name = toolNameOf(span)
      if (id === null) nameless.set(name, (nameless.get(name) ?? 0) + 1)
      else ids.add(id)
    },
    /** Where tools have spans, a call without one has happened only if it was answered. */
    withoutSpan: (): CalledTool[] =>
      [...called.values()]
        .filter(({ call }) => !hasSpan(call))
        .map((each) => ({ ...each, answer: each.call.id === null ? undefined : answers.get(each.call.id) }))
        .filter(({ answer }) => answer !== undefined || spans === 0),
  }
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
