// The meaning of the lines of a coding agent's transcript, the same for every agent.
import type { JsonMap } from '@svc/schemas'

/** The refuser of a call before it ran: a person who was asked, or a rule of the agent. */
export type Refusal = 'person' | 'rule'

/** A part of one answer of a model, which may be spread over several lines. */
export interface ModelPart {
  readonly kind: 'part'
  /** Parts with the same id are one answer; null: a part belongs to the answer before it. */
  readonly id: string | null
  readonly model: string | null
  readonly texts: readonly string[]
  readonly reasoning: readonly string[]
  /** Other blocks, such as images. */
  readonly blocks: readonly unknown[]
  readonly usage: Usage | null
  /** True when no further part of the answer follows. */
  readonly is_last: boolean
  /** The model failed; the texts say how. */
  readonly is_error: boolean
  /** The permissions of the agent, if they are new. */
  readonly context: JsonMap
}

export interface Usage {
  readonly total_tokens: number
  readonly cost_usd: number | null
  /** The counts as the transcript has them. */
  readonly counts: JsonMap
}

export interface CallAct {
  readonly kind: 'call'
  readonly id: string | null
  readonly name: string
  readonly input: unknown
}

export interface ResultAct {
  readonly kind: 'result'
  readonly id: string | null
  readonly content: unknown
  readonly is_error: boolean
  readonly refusal: Refusal | null
  /** False for a refusal that only the words of the result show, which a tool of others could return as well. */
  readonly is_certain: boolean
  readonly exit_code: number | null
  /** The sub-agent that was started and continues in the background; null for another result. */
  readonly launched: string | null
  /** The tool, where a result names it; null for a result that only has the id of its call. */
  readonly name: string | null
}

/** A message of the user, or to a sub-agent by its caller. */
export interface ReceivedAct {
  readonly kind: 'received'
  readonly content: unknown
  /** The time when it was written, if not when its line was; ms since 1970. */
  readonly time: number | null
  readonly meta: JsonMap
}

export type Act =
  | ModelPart
  | CallAct
  | ResultAct
  | ReceivedAct
  /** A message of another agent. */
  | { readonly kind: 'notice'; readonly content: unknown }
  /** Tokens that belong to the answer before, where they are on a line of their own. */
  | { readonly kind: 'usage'; readonly usage: Usage }
  /** The agent replaced its conversation by a summary of it. */
  | { readonly kind: 'summary'; readonly content: unknown }
  /** The user stopped the agent. */
  | { readonly kind: 'stopped' }
  /** The answer of the model, and with `calls` every call before it, is over. */
  | { readonly kind: 'settled'; readonly calls: boolean }

/** Facts of the session that a line states; the first statement counts. */
export interface SessionFacts {
  readonly cwd?: string
  readonly git_branch?: string
  readonly version?: string
  readonly entrypoint?: string
  readonly instructions?: readonly string[]
}

/** A line without an act: counted by its name. `known` is false for kinds that this version does not know. */
export interface OtherLine {
  readonly name: string
  readonly known: boolean
}

export interface SessionLine {
  /** ms since 1970; null when the line has no time. */
  readonly time: number | null
  /** The sub-agent that acted: its id, or null for the agent of the session. */
  readonly thread: string | null
  /** Number of agents above that sub-agent, where the transcript states it. */
  readonly depth: number | null
  /** The line itself, for evidence. */
  readonly id: string | null
  readonly facts: SessionFacts
  readonly acts: readonly Act[]
  readonly others: readonly OtherLine[]
}

/** Reads the lines of one session, in their order. */
export interface LineReader {
  readonly read: (value: JsonMap) => SessionLine
  /** The acts of the last lines, if no line follows. */
  readonly rest: () => readonly Act[]
}

export function otherLine(name: string, known: boolean): OtherLine {
  return { name, known }
}
