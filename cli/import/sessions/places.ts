// The place of each session in the files: the first reading notes it, so that the second one reads one session after the other.
import { statSync } from 'node:fs'
import { type CodingFormatName, type LinePlace, placeOfLine } from '@svc/adapters/sessions'
import type { Fault, Seen } from '../reading/reader.js'
import { baseName, type Source } from '../reading/source.js'
import { type FileRange, linesOf } from './lines.js'

/** Consecutive lines of one session in a file. */
export interface Part extends FileRange {
  readonly session: string
  /** The sub-agent that the whole file is about; null for another file. */
  agent: string | null
  /** Time of the first line, ms since 1970; null without times. */
  begins: number | null
  has_acts: boolean
  /** Lines. */
  lines: number
  end: number
}

export interface Places {
  /** Notes the lines of a file; yields what is in the place of a line. */
  readonly note: (source: Source) => AsyncGenerator<Seen | Fault>
  /** The parts of all files, in the order of the files. */
  readonly parts: readonly Part[]
  readonly counts: { torn_files: number; empty_files: number; copied_lines: number; forked_sessions: number }
}

export function createPlaces(format: CodingFormatName): Places {
  const parts: Part[] = []
  const sessions = new Set<string>()
  const counts = { torn_files: 0, empty_files: 0, copied_lines: 0, forked_sessions: 0 }

  async function* note(source: Source): AsyncGenerator<Seen | Fault> {
    const file = createFile(format, source, statSync(source.path).size)
    let unknown: unknown
    for await (const found of linesOf({ path: source.path, start: 0, end: file.size })) {
      const fault = { file: source.name, line: found.line, entry: null, unit: 'run' as const }
      if (found.kind === 'torn') counts.torn_files += 1
      else if (found.kind === 'fault') yield { ...fault, reason: found.reason }
      else {
        const place = placeOfLine(format, found.value)
        if (place === null) yield { ...fault, reason: 'not a line of a session', value: found.value }
        else {
          if (!place.is_known) unknown ??= found.value
          if (place.is_fork) counts.forked_sessions += 1
          file.add(place, found.offset)
        }
      }
    }
    const own = file.finish()
    counts.copied_lines += own.copied
    parts.push(...own.parts)
    const fresh = new Set(
      own.parts.filter(({ has_acts, session }) => has_acts && !sessions.has(session)).map(({ session }) => session),
    )
    for (const session of fresh) sessions.add(session)
    if (file.has_known() || own.parts.length > 0) yield { runs: fresh.size }
    else if (unknown !== undefined)
      yield {
        file: source.name,
        line: 0,
        entry: null,
        unit: 'run',
        reason: 'not a line of a session',
        value: unknown,
      }
    if (unknown === undefined && own.parts.every(({ has_acts }) => !has_acts)) counts.empty_files += 1
  }
  return { note, parts, counts }
}

function createFile(format: CodingFormatName, { path, run_id }: Source, size: number) {
  let parts: Part[] = []
  let current: Part | null = null
  /** Lines without a session, before the first of a session. */
  let first: number | null = null
  let has_known = false
  const parents = new Set<string>()
  const begin = (session: string, offset: number): Part => {
    if (current !== null) current.end = offset
    const start = parts.length === 0 ? (first ?? offset) : offset
    const part: Part = { path, start, end: size, session, agent: null, begins: null, has_acts: false, lines: 0 }
    parts.push(part)
    return part
  }
  return {
    size,
    has_known: () => has_known,
    add: (place: LinePlace, offset: number) => {
      has_known ||= place.is_known
      first ??= offset
      for (const parent of place.parents) parents.add(parent)
      // A session that continues another one repeats its lines, and the name of it among them.
      const is_repeated = current !== null && place.session !== null && parents.has(place.session)
      const session = is_repeated ? null : place.session
      // Codex names a session once; a file without a name for it is named by the file.
      const named = session ?? (format === 'codex' && place.is_act ? (current?.session ?? run_id) : null)
      if (named === null) return
      if (current === null || current.session !== named) current = begin(named, offset)
      if (current.lines === 0) current.agent = place.agent
      else if (place.is_act && current.agent !== place.agent) current.agent = null
      current.lines += 1
      current.begins ??= place.time
      current.has_acts ||= place.is_act
    },
    finish: () => {
      const own = ownParts(parts, path)
      const copied = parts.filter((part) => !own.includes(part)).reduce((sum, { lines }) => sum + lines, 0)
      parts = own
      return { parts, copied }
    },
  }
}

/**
 * A file that is named like one of its sessions is the file of that one; lines of others are copies from their files. So are
 * the lines of the sub-agents that summarise a conversation.
 */
function ownParts(parts: readonly Part[], path: string): Part[] {
  const name = baseName(path)
  const isNamed = parts.some(({ session }) => session === name)
  return parts.filter(({ session, agent }) => (!isNamed || session === name) && !agent?.startsWith('acompact'))
}
