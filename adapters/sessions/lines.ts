// Lines of transcripts: their values, and what a first reading must know of them.

import { readValue } from '@svc/engine/parts'
import { isMap } from '@svc/proof'
import { type JsonMap, parseTimestamp } from '@svc/schemas'
import { agentOf, claudeSessionOf, isClaudeLine } from './claude.js'
import { codexSessionOf, isCodexLine } from './codex.js'
import { lenientValue } from './content.js'
import type { CodingFormatName } from './known-tools.js'

export const codingFormatNames: readonly CodingFormatName[] = ['claude-code', 'codex']

/** The format in which a value is a line of a session; null when it is in none. */
export function formatOfLine(value: unknown): CodingFormatName | null {
  if (isClaudeLine(value)) return 'claude-code'
  return isCodexLine(value) ? 'codex' : null
}

/** The value of a line; `is_open` when the text may continue. */
export type LineReading =
  | { readonly value: unknown; readonly problem: null }
  | { readonly problem: string; readonly is_open: boolean }

/** Reads a line as a program wrote it: texts that were cut inside a character and long numbers make no line unreadable. */
export function readLine(text: string): LineReading {
  const reading = readValue(text)
  if (reading.problem === null) return reading
  const value = lenientValue(text)
  return value === undefined ? reading : { value, problem: null }
}

export interface LinePlace {
  /** True for a line that is certainly of the format; another one may be of a newer version. */
  readonly is_known: boolean
  /** The session that the line names; for Codex, the session that it begins. */
  readonly session: string | null
  /** The sub-agent whose file the line may be in. */
  readonly agent: string | null
  /** Sessions whose lines the session that begins here may repeat. */
  readonly parents: readonly string[]
  /** True at the beginning of a session that continues another one. */
  readonly is_fork: boolean
  /** ms since 1970. */
  readonly time: number | null
  /** True for a line with a message, a call or the like. */
  readonly is_act: boolean
}

/** The place to which a value belongs; null for another value. */
export function placeOfLine(format: CodingFormatName, value: unknown): LinePlace | null {
  if (!isMap(value)) return null
  const time = typeof value.timestamp === 'string' ? parseTimestamp(value.timestamp) : null
  return format === 'codex' ? codexPlace(value, time) : claudePlace(value, time)
}

function claudePlace(value: JsonMap, time: number | null): LinePlace | null {
  const is_known = isClaudeLine(value)
  const session = claudeSessionOf(value)
  if (!is_known && session === null && typeof value.type !== 'string') return null
  const is_act = value.type === 'user' || value.type === 'assistant'
  return { is_known, session, agent: agentOf(value), parents: [], is_fork: false, time, is_act }
}

function codexPlace(value: JsonMap, time: number | null): LinePlace | null {
  const is_known = isCodexLine(value)
  if (!is_known && typeof value.type !== 'string') return null
  const begun = codexSessionOf(value)
  const is_act = is_known && begun === null && value.type !== 'turn_context'
  const { id: session = null, parents = [], is_fork = false } = begun ?? {}
  return { is_known, session, agent: null, parents, is_fork, time, is_act }
}

/** The values of an older session that is one JSON document; null for a document of another kind. */
export function valuesOfSession(document: unknown): readonly unknown[] | null {
  if (!isMap(document) || !isMap(document.session) || !Array.isArray(document.items)) return null
  return [document.session, ...(document.items as unknown[])]
}
