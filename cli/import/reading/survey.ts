// The facts about all runs that the first step needs, and the messages about everything that is not a run.

import { UsageError } from '../../errors.js'
import { binaryReason } from './binary.js'
import type { FormatName } from './formats.js'
import { type Fault, type ImportReader, isFault, type Seen } from './reader.js'
import type { Source } from './source.js'
import { type Expected, faultText, noRunsText, otherFormatOf } from './unreadable.js'

export interface Survey {
  readonly runs: number
  readonly bad_lines: number
  /** Documents, and runs in lists of runs, that could not be read. */
  readonly bad_documents: number
  readonly bad_spans: number
}

interface SurveySettings extends Expected {
  /** The command with another format. */
  readonly command: (format: FormatName) => string
  readonly report: (text: string) => void
}

/**
 * The first pass: reports each fault once; a file without runs gets one message. Rejects with
 * UsageError when there are no runs and the files are in another format.
 */
export async function surveyRuns(
  sources: readonly Source[],
  reader: ImportReader,
  settings: SurveySettings,
): Promise<Survey> {
  const { format, command, report } = settings
  const count = { runs: 0, bad_lines: 0, bad_documents: 0, bad_spans: 0 }
  let has_found = false
  /** Messages about files without runs, until there is a run. */
  const held: string[] = []
  const formats = new Set<FormatName | null>()
  for (const source of sources) {
    const file = await surveyFile(reader, source, settings)
    count.runs += file.runs
    count.bad_lines += file.bad_lines
    count.bad_documents += file.bad_documents
    count.bad_spans += file.bad_spans
    has_found ||= file.has_found
    const [first] = file.held
    if (first !== undefined) {
      formats.add(otherFormatOf(first, format))
      held.push(noRunsText(first, file.bad_lines + file.bad_documents + file.bad_spans, settings))
    }
    if (has_found) for (const text of held.splice(0)) report(text)
  }
  const [other = null, ...others] = formats
  if (!has_found && other !== null && others.length === 0)
    throw new UsageError(`the runs are in the format ${other}, not ${format}; write:\n  ${command(other)}`)
  for (const text of held) report(text)
  return count
}

interface FileSurvey extends Survey {
  /** True for a file with a run, or a part of one. */
  readonly has_found: boolean
  /** The faults of a file without runs; only the first of very many. */
  readonly held: readonly Fault[]
}

/** In memory until there is a run; a file of another kind has a fault on every line. */
const maxHeldFaults = 1000

async function surveyFile(reader: ImportReader, source: Source, settings: SurveySettings): Promise<FileSurvey> {
  const { report } = settings
  const count = { runs: 0, bad_lines: 0, bad_documents: 0, bad_spans: 0 }
  let has_found = false
  const held: Fault[] = []
  let more = 0
  const reportHeld = () => {
    for (const fault of held.splice(0)) report(faultText(fault, settings))
    if (more > 0) report(`${source.name}: ${more} more before the first run could not be read`)
    more = 0
  }
  for await (const found of foundIn(reader, source, settings)) {
    if (!isFault(found)) {
      count.runs += found.runs
      has_found = true
      reportHeld()
      continue
    }
    count[placeOf(found)]++
    if (has_found) report(faultText(found, settings))
    else if (held.length < maxHeldFaults) held.push(found)
    else more++
  }
  return { ...count, has_found, held }
}

async function* foundIn(reader: ImportReader, source: Source, { format, svc }: Expected): AsyncGenerator<Seen | Fault> {
  const reason = binaryReason(source, format, svc)
  if (reason === null) yield* reader.survey(source)
  else yield { file: source.name, line: null, entry: null, unit: 'run', reason }
}

/** The count that a fault belongs to. */
function placeOf({ unit, line }: Fault): 'bad_lines' | 'bad_documents' | 'bad_spans' {
  if (unit === 'span') return 'bad_spans'
  return line === null ? 'bad_documents' : 'bad_lines'
}
