// A recorded run as its messages, whatever format it was recorded in.
import type { JsonMap } from '@svc/schemas'

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
  /** The call that a tool's message repeats; it becomes a step when no assistant's message has it. */
  readonly repeated_call?: ToolCall
  /** The error of the tool, where a recorder keeps it apart from the content. */
  readonly error?: unknown
  /** Members without a counterpart in a step, such as a refusal. */
  readonly extra: JsonMap
}

export interface Transcript {
  readonly run_id: string
  readonly model: string | null
  readonly messages: readonly Message[]
  /** Members of the run without a counterpart in a step, such as a reward. */
  readonly extra: JsonMap
}

/** A run as its file has it, once it has no problems. */
export interface WrittenRun extends JsonMap {
  readonly run_id: string | number
  readonly messages: readonly JsonMap[]
}

/** The run of a value without problems, with its messages as `read` understands them. */
export function runOf(value: unknown, read: (messages: readonly JsonMap[]) => readonly Message[]): Transcript {
  const { run_id, messages, ...others } = value as WrittenRun
  const { model, ...extra } = others
  const named = typeof model === 'string' && model !== ''
  return {
    run_id: String(run_id),
    model: named ? model : null,
    messages: read(messages),
    extra: named ? extra : others,
  }
}

/** A run, or the reason why a value is not one. */
export type TranscriptReading =
  | { readonly transcript: Transcript; readonly problem: null }
  | { readonly problem: string }

/** Removes empty members, which recorders write often. */
export function present(members: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}

/** The id as text; null for a value that is not an id. */
export function idOf(given: unknown): string | null {
  return typeof given === 'string' || typeof given === 'number' ? String(given) : null
}

/** The names of all tools that the run called, sorted. */
export function toolsIn({ messages }: Transcript): string[] {
  const calls = messages.flatMap(({ tool_calls, repeated_call }) =>
    repeated_call === undefined ? tool_calls : [repeated_call],
  )
  return [...new Set(calls.map(({ name }) => name))].sort()
}
