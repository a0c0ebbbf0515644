// A recorded run in chat-completions form, read leniently: whatever a recorder wrote is evidence and is kept.
import { lazyCheck, type SchemaProblem } from '../schema-check.js'
import type { JsonMap } from '../steps.js'

export interface ToolCall {
  readonly id: string | null
  readonly name: string
  readonly arguments: unknown
}

export interface Message {
  readonly role: string
  readonly content: unknown
  readonly tool_calls: readonly ToolCall[]
  readonly tool_call_id: string | null
  readonly name: string | null
}

export interface Transcript {
  readonly run_id: string
  readonly model: string | null
  readonly messages: readonly Message[]
  /** Members of the line that have no place in a step, such as a reward. */
  readonly extra: JsonMap
}

const check = lazyCheck({
  type: 'object',
  required: ['run_id', 'messages'],
  properties: {
    run_id: { type: ['string', 'integer'] },
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
              required: ['function'],
              properties: {
                function: {
                  type: 'object',
                  required: ['name'],
                  properties: { name: { type: 'string', minLength: 1 } },
                },
              },
            },
          },
        },
      },
    },
  },
})

/** Reads one line's value; never throws. */
export function readTranscript(value: unknown): Transcript | { readonly problems: readonly SchemaProblem[] } {
  const problems = check(value)
  if (problems.length > 0) return { problems }
  const { run_id, messages, model, ...extra } = value as JsonMap & {
    run_id: string | number
    messages: readonly JsonMap[]
  }
  return {
    run_id: String(run_id),
    model: typeof model === 'string' ? model : null,
    messages: messages.map(readMessage),
    extra,
  }
}

function readMessage(message: JsonMap): Message {
  const { role, content, tool_calls, tool_call_id, name } = message
  return {
    role: String(role),
    content: content ?? null,
    tool_calls: Array.isArray(tool_calls) ? tool_calls.map(readCall) : [],
    tool_call_id: typeof tool_call_id === 'string' ? tool_call_id : null,
    name: typeof name === 'string' ? name : null,
  }
}

function readCall(call: JsonMap): ToolCall {
  const named = call.function as { name: string; arguments?: unknown }
  return {
    id: typeof call.id === 'string' ? call.id : null,
    name: named.name,
    arguments: named.arguments ?? null,
  }
}
