// Runs of recorders and logs: one on each line, in a document, or in a list.
import {
  lineTime,
  type RunFormatName,
  readLines,
  readRun,
  readValue,
  runValuesOf,
  stepsOf,
  type Transcript,
  toolsIn,
} from '@svc/engine/parts'
import { UsageError } from '../errors.js'
import { documentIn } from './reading/document.js'
import type { ImportPlan } from './reading/options.js'
import { type Fault, type ImportReader, isFault, noRemarks } from './reading/reader.js'
import type { Source } from './reading/source.js'

interface Run {
  /** Position among the lines and documents, from 0; it sets the time of the run. */
  readonly position: number
  readonly place: string
  readonly transcript: Transcript
}

/** The reader of `files` files of runs, whose steps are those of one agent. */
export function createRunReader(format: RunFormatName, files: number, plan: ImportPlan): ImportReader {
  const tools = new Set<string>()
  let last_position = 0
  const surveyed = createRuns(format, files)
  const read = createRuns(format, files)
  const settings = () => ({ ...plan, declared_tools: [...tools].sort() })
  return {
    survey: async function* (source) {
      for await (const found of surveyed(source)) {
        if (isFault(found)) yield found
        else {
          last_position = found.position
          for (const name of toolsIn(found.transcript)) tools.add(name)
          yield { runs: 1 }
        }
      }
    },
    agents: () => {
      checkTimes(plan.start, last_position)
      const { agent_key, declared_tools } = settings()
      return [{ agent_key, name: agent_key, declared_tools, keeps_registration: false }]
    },
    read: async function* (source) {
      const given = settings()
      for await (const found of read(source)) {
        if (isFault(found)) continue
        const { place, transcript, position } = found
        yield { place, steps: stepsOf(transcript, position, given) }
      }
    },
    remarks: () => noRemarks,
  }
}

/** The year 10000 cannot be written as RFC 3339. */
const maxTime = Date.UTC(10_000, 0)

function checkTimes(start: number, last_position: number): void {
  if (start + (last_position + 1) * lineTime >= maxTime)
    throw new UsageError('`--start` is too late: each run takes an hour, and the last one is after the year 9999')
}

/** The runs are of a format. A second run with the same id would be the same task, so it is a fault. */
function createRuns(format: RunFormatName, files: number): (source: Source) => AsyncGenerator<Run | Fault> {
  const seen = new Map<string, string>()
  let position = 0
  return async function* read(source) {
    const start = position
    for await (const found of valuesIn(source, format)) {
      position = start + found.position + 1
      const { line, entry } = found
      const fault = { file: source.name, line, entry, unit: 'run' as const }
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

/** A value in the place of a run, or the reason why it is missing. */
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

async function* valuesIn(source: Source, format: RunFormatName): AsyncGenerator<Found> {
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

async function* linesIn(source: Source, format: RunFormatName): AsyncGenerator<Found> {
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
