// The content of the files besides acts, counted by kind, so that an import leaves nothing out silently.
import type { OtherLine } from '@svc/adapters/sessions'
import type { Remarks } from '../reading/reader.js'
import { countOf } from '../reading/words.js'
import type { Places } from './places.js'

/** Kinds in memory and in the report for programs; others are counted together. */
const maxKinds = 1000
/** Kinds, and characters of one, in the report for people. */
const maxShown = 10
const maxLength = 60

export function createTally() {
  const known = createKinds()
  const unknown = createKinds()
  const count = { repeated_lines: 0, open_sessions: 0, open_steps: 0, lone_subagents: 0 }
  return {
    add: (others: readonly OtherLine[]): void => {
      for (const other of others) (other.known ? known : unknown).add(other.name)
    },
    repeat: (): void => {
      count.repeated_lines += 1
    },
    leave: (steps: number): void => {
      if (steps === 0) return
      count.open_sessions += 1
      count.open_steps += steps
    },
    addLoneAgent: (): void => {
      count.lone_subagents += 1
    },
    remarks: (files: Places['counts']): Remarks => {
      const members = { ...files, ...count, other_lines: known.all(), unknown_lines: unknown.all() }
      return { lines: linesOf(members, known.shown(), unknown.shown()), members }
    },
  }
}

type Counts = Places['counts'] & Record<'repeated_lines' | 'open_sessions' | 'open_steps' | 'lone_subagents', number>

function linesOf(count: Counts, known: string | null, unknown: string | null): string[] {
  const { torn_files, empty_files, copied_lines, forked_sessions, repeated_lines, lone_subagents } = count
  const { open_sessions, open_steps } = count
  return [
    unknown === null ? '' : `lines of unknown kinds were left out; a newer version of svc may know them: ${unknown}`,
    known === null ? '' : `lines that are no steps: ${known}`,
    open_steps === 0
      ? ''
      : `${countOf(open_steps, 'step')} at the end of ${countOf(open_sessions, 'session')} may still change and ${open_steps === 1 ? 'is' : 'are'} left out: import again later, or with --ended if the sessions are over`,
    torn_files === 0 ? '' : `${countOf(torn_files, 'file')} ended in the middle of a line, which is left out`,
    repeated_lines === 0 ? '' : `${countOf(repeated_lines, 'line')} occurred more than once and counted once`,
    copied_lines === 0
      ? ''
      : `${countOf(copied_lines, 'line')} that other files have as well ${copied_lines === 1 ? 'was' : 'were'} left out`,
    forked_sessions === 0
      ? ''
      : `${countOf(forked_sessions, 'session')} may begin with the steps of the session that was forked`,
    lone_subagents === 0
      ? ''
      : `${countOf(lone_subagents, 'sub-agent')} without the file of the session ${lone_subagents === 1 ? 'is a task' : 'are tasks'} of ${lone_subagents === 1 ? 'its' : 'their'} own`,
    empty_files === 0 ? '' : `${countOf(empty_files, 'file')} had no act of an agent`,
  ].filter((line) => line !== '')
}

function createKinds() {
  const kinds = new Map<string, number>()
  let total = 0
  return {
    add: (name: string): void => {
      total += 1
      const kind = name.slice(0, 200)
      if (kinds.has(kind) || kinds.size < maxKinds) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    },
    all: () => Object.fromEntries(sorted(kinds)),
    /** The kinds by their number; null without any. */
    shown: (): string | null => {
      if (total === 0) return null
      const shown = sorted(kinds).slice(0, maxShown)
      const others = total - shown.reduce((sum, [, count]) => sum + count, 0)
      const texts = shown.map(
        ([name, count]) => `${name.length > maxLength ? `${name.slice(0, maxLength)}…` : name} (${count})`,
      )
      return [...texts, ...(others > 0 ? [`others (${others})`] : [])].join(', ')
    },
  }
}

function sorted(kinds: ReadonlyMap<string, number>): (readonly [string, number])[] {
  return [...kinds].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
}
