// Runs in chat-completions form, read leniently: the members that a recorder adds are evidence and are kept.
import type { JsonMap } from '@svc/schemas'
import { lazyCheck } from '../check/schema-check.js'
import { idOf, type Message, present, runOf, type ToolCall, type Transcript } from './transcript.js'

const calledTool = { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } }

/** The problems of a value that is not a run. */
export const chatRunProblems = lazyCheck({
  type: 'object',
  required: ['run_id', 'messages'],
  properties: {
    run_id: { type: ['string', 'integer'], minLength: 1 },
    messages: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['role'],
        properties: {
          role: { type: 'string' },
          tool_calls: {
            type: ['array', 'null'],
            items: {
              type: 'object',
              properties: { function: calledTool, custom: calledTool },
              // An older form is `function` alone; `custom` is a tool that takes plain text.
              anyOf: [{ required: ['function'] }, { required: ['custom'] }],
            },
          },
          function_call: { ...calledTool, type: ['object', 'null'] },
        },
      },
    },
  },
})

/** The run of a value without problems. */
export function chatRun(value: unknown): Transcript {
  return runOf(value, (messages) => messages.map(readMessage))
}

function readMessage({ role, content, name, ...others }: JsonMap): Message {
  const message = {
    role: String(role),
    content: content ?? null,
    tool_calls: [],
    tool_call_id: null,
    name: typeof name === 'string' ? name : null,
    extra: present({ ...others, ...(typeof name !== 'string' && { name }) }),
  }
  if (role === 'assistant') {
    const { tool_calls, function_call, ...extra } = message.extra
    return { ...message, tool_calls: [...callsOf(tool_calls), ...olderCall(function_call)], extra }
  }
  if (role !== 'tool' && role !== 'function') return message
  const { tool_call_id, ...extra } = message.extra
  const id = idOf(tool_call_id)
  return id === null ? message : { ...message, tool_call_id: id, extra }
}

function callsOf(tool_calls: unknown): ToolCall[] {
  return Array.isArray(tool_calls) ? (tool_calls as JsonMap[]).map(readCall) : []
}

interface CalledTool {
  readonly name: string
  readonly arguments?: unknown
  readonly input?: unknown
}

function readCall({ id, function: named, custom }: JsonMap): ToolCall {
  const tool = (named ?? custom) as CalledTool
  return { id: idOf(id), name: tool.name, arguments: tool.arguments ?? tool.input ?? null }
}

/** The form before tool calls: at most one, without an id. */
function olderCall(function_call: unknown): ToolCall[] {
  return function_call === undefined ? [] : [readCall({ function: function_call })]
}
