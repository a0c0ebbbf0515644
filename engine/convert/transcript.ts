// A recorded run in chat-completions form, read leniently: the members that a recorder adds are evidence and are kept.
import { parseStrictJson } from '@svc/proof'
import type { JsonMap } from '@svc/schemas'
import { lazyCheck } from '../check/schema-check.js'

export interface ToolCall {
  readonly id: string | null
  readonly name: string
  /** JSON text as models write it, or a recorder's own form; null without arguments. */
  readonly arguments: unknown
}

export interface Message {
  readonly role: string
  readonly content: unknown
  /** Calls of an assistant's message; empty for other roles. */
  readonly tool_calls: readonly ToolCall[]
  /** The call that a tool's message answers; null for other roles. */
  readonly tool_call_id: string | null
  readonly name: string | null
  /** Members without a counterpart in a step, such as a refusal. */
  readonly extra: JsonMap
}

export interface Transcript {
  readonly run_id: string
  readonly model: string | null
  readonly messages: readonly Message[]
  /** Members of the line without a counterpart in a step, such as a reward. */
  readonly extra: JsonMap
}

export type TranscriptReading =
  | { readonly transcript: Transcript; readonly problem: null }
  | { readonly problem: string }

/** Reads one line as strict JSON (docs/design/log.md §1); never throws. */
export function readTranscript(text: string): TranscriptReading {
  const reading = parseStrictJson(text)
  if (reading.problem !== null) {
    const { message, offset } = reading.problem
    return { problem: offset === null ? message : `${message} at column ${offset + 1}` }
  }
  const [first, ...more] = check(reading.value)
  if (first !== undefined) {
    const where = first.path.length === 0 ? '' : `\`${first.path.join('.')}\`: `
    return { problem: `${where}${first.message}${more.length === 0 ? '' : ` (and ${more.length} more)`}` }
  }
  return { transcript: transcriptOf(reading.value as Line), problem: null }
}

const calledTool = { type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } } }

const check = lazyCheck({
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

interface Line extends JsonMap {
  readonly run_id: string | number
  readonly messages: readonly JsonMap[]
}

function transcriptOf({ run_id, messages, ...others }: Line): Transcript {
  const { model, ...extra } = others
  const named = typeof model === 'string' && model !== ''
  return {
    run_id: String(run_id),
    model: named ? model : null,
    messages: messages.map(readMessage),
    extra: named ? extra : others,
  }
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

/** Removes empty members, which recorders write often. */
function present(members: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
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

function idOf(given: unknown): string | null {
  return typeof given === 'string' || typeof given === 'number' ? String(given) : null
}
