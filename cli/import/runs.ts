// The runs of the files of an import, in order.
import { type FormatName, readLines, readRun, readValue, runValuesOf, type Transcript } from '@svc/engine'
import { documentIn } from './document.js'
import type { Source } from './source.js'

export interface Run {
  /** Position among the lines and documents, from 0; it sets the time of the run. */
  readonly position: number
  /** The run in messages about it. */
  readonly place: string
  readonly transcript: Transcript
}

/** What is in the place of a run. */
export interface Fault {
  readonly file: string
  /** From 0; null for a document. */
  readonly line: number | null
  /** Number of the run in a list of runs, from 0; null for others. */
  readonly entry: number | null
  readonly reason: string
  /** The value that is not a run; undefined for text that is not JSON, and for a run that is one. */
  readonly value?: unknown
}

/** Reads the files of an import one after the other. */
export type RunReader = (source: Source) => AsyncGenerator<Run | Fault>

export function isRun(found: Run | Fault): found is Run {
  return 'transcript' in found
}

/** The runs are of a format. A second run with the same id would be the same task, so it is a fault. */
export function createRunReader(format: FormatName, files: number): RunReader {
  const seen = new Map<string, string>()
  let position = 0
  return async function* read(source) {
    const start = position
    for await (const found of valuesIn(source, format)) {
      position = start + found.position + 1
      const { line, entry } = found
      const fault = { file: source.name, line, entry }
      const reading = found.problem === null ? readRun(format, found.value, found.run_id) : found
      if (reading.problem !== null) {
        yield { ...fault, reason: reading.problem, ...('value' in found && { value: found.value }) }
        continue
      }
      const { transcript } = reading
      const place = placeIn(source, found, files)
      const earlier = seen.get(transcript.run_id)
      if (earlier === undefined) {
        seen.set(transcript.run_id, place)
        yield { position: position - 1, place, transcript }
      } else {
        const where = files === 1 && line !== null ? 'on' : 'in'
        yield { ...fault, reason: `\`run_id\` is the same as ${where} ${earlier}` }
      }
    }
  }
}

/** A value in the place of a run, or the reason why there is none. */
type Found = {
  /** In its file, from 0. */
  readonly position: number
  readonly line: number | null
  readonly entry: number | null
} & (
  | {
      readonly value: unknown /** The id of a run that has none. */
      readonly run_id: string | null
      readonly problem: null
    }
  | { readonly problem: string }
)

async function* valuesIn(source: Source, format: FormatName): AsyncGenerator<Found> {
  const document = await documentIn(source.path)
  if (document === null) {
    yield* linesIn(source, format)
    return
  }
  const whole = { position: 0, line: null, entry: null }
  if (document.problem !== null) {
    yield { ...whole, problem: document.problem }
    return
  }
  const values = runValuesOf(document.value)
  const isList = values === document.value
  if (values.length === 0) yield { ...whole, problem: 'an empty list' }
  for (const [position, value] of values.entries()) {
    const at = isList ? { entry: position, run_id: `${source.run_id}-${position + 1}` } : { run_id: source.run_id }
    yield { ...whole, position, ...at, value, problem: null }
  }
}

async function* linesIn(source: Source, format: FormatName): AsyncGenerator<Found> {
  for await (const read of readLines(source.path)) {
    const { line } = read
    const place = { position: line, line, entry: null }
    if (read.problem !== null) yield { ...place, problem: read.problem }
    else if (read.text.trim() !== '') {
      const { problem, ...reading } = readValue(read.text)
      // Lines of chat-completions always have an id of their own.
      const run_id = format === 'chat-completions' ? null : `${source.run_id}-${line + 1}`
      yield 'value' in reading
        ? { ...place, value: reading.value, run_id, problem: null }
        : { ...place, problem: problem ?? '' }
    }
  }
}

function placeIn({ name }: Source, { line, entry }: Pick<Found, 'line' | 'entry'>, sources: number): string {
  const inFile = line !== null ? `line ${line + 1}` : entry !== null ? `run ${entry + 1}` : null
  if (sources === 1) return inFile ?? 'the run'
  return inFile === null ? name : `${name} ${inFile}`
}
