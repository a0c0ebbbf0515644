// The formats of recorded runs: one entry each. Reading never throws.
import { isMap } from '@svc/proof'
import type { SchemaProblem } from '../check/schema-check.js'
import { chatRun, chatRunProblems } from './chat-run.js'
import { recorderRun, recorderRunProblems } from './recorder-run.js'
import type { Transcript, TranscriptReading } from './transcript.js'

interface RunFormat {
  readonly name: string
  readonly problems: (value: unknown) => readonly SchemaProblem[]
  /** Reads a value without problems. */
  readonly read: (value: unknown) => Transcript
}

const formats = [
  { name: 'chat-completions', problems: chatRunProblems, read: chatRun },
  { name: 'recorder', problems: recorderRunProblems, read: recorderRun },
] as const satisfies readonly RunFormat[]

export type RunFormatName = (typeof formats)[number]['name']

export const runFormatNames: readonly RunFormatName[] = formats.map(({ name }) => name)

/** Reads a value as a run; a run without `run_id` gets `run_id`, if it is not null. */
export function readRun(format: RunFormatName, value: unknown, run_id: string | null): TranscriptReading {
  const run = completed(value, run_id)
  const { problems, read } = formatOf(format)
  const [first, ...more] = problems(run)
  if (first === undefined) return { transcript: read(run), problem: null }
  const where = first.path.length === 0 ? '' : `\`${first.path.join('.')}\`: `
  return { problem: `${where}${first.message}${more.length === 0 ? '' : ` (and ${more.length} more)`}` }
}

/** The values of a JSON document that should be runs: a run, a list of runs, or the messages of one run. */
export function runValuesOf(document: unknown): readonly unknown[] {
  return Array.isArray(document) && !isMessages(document) ? document : [document]
}

/** The format in which a value is a run; null when it is in none. */
export function formatOfRun(value: unknown): RunFormatName | null {
  const run = completed(value, 'x')
  return formats.find(({ problems }) => problems(run).length === 0)?.name ?? null
}

/** True for a value that is meant to be a run. */
export function hasMessages(value: unknown): boolean {
  return isMessages(value) || (isMap(value) && Array.isArray(value.messages))
}

const maxNames = 6
const maxNameLength = 40

/** The form of a value, by its members and without its contents. */
export function descriptionOf(value: unknown): string {
  if (Array.isArray(value)) {
    if (value.length === 0) return 'an empty list'
    return `a list of ${value.length === 1 ? '1 entry' : `${value.length} entries`}, the first is ${descriptionOf(value[0])}`
  }
  if (!isMap(value)) return value === null ? 'null' : typeof value === 'string' ? 'text' : `a ${typeof value}`
  const names = Object.keys(value)
  if (names.length === 0) return 'an object without members'
  const shown = names.slice(0, maxNames).map((name) => `\`${name.slice(0, maxNameLength)}\``)
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : ''
  return `an object with the ${names.length === 1 ? 'member' : 'members'} ${shown.join(', ')}${more}`
}

function formatOf(name: RunFormatName): RunFormat {
  // INVARIANT (formats): a RunFormatName is the name of an entry.
  return formats.find((format) => format.name === name) ?? formats[0]
}

/** A list of messages is the run that has them. */
function completed(value: unknown, run_id: string | null): unknown {
  const run = isMessages(value) ? { messages: value } : value
  if (run_id === null || !isMap(run) || (run.run_id !== undefined && run.run_id !== null)) return run
  return { ...run, run_id }
}

function isMessages(value: unknown): boolean {
  return (
    Array.isArray(value) && value.length > 0 && value.every((entry) => isMap(entry) && typeof entry.role === 'string')
  )
}
