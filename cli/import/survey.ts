// The facts about all runs that the first step needs, and the messages about everything that is not a run.
import { type FormatName, toolsIn } from '@svc/engine'
import { createRunReader, type Fault, isRun, type RunReader } from './runs.js'
import type { Source } from './source.js'
import { type Expected, faultText, noRunsText, otherFormatOf } from './unreadable.js'
import { UsageError } from './usage-error.js'

export interface Survey {
  readonly runs: number
  readonly bad_lines: number
  /** Documents, and runs in lists of runs, that could not be read. */
  readonly bad_documents: number
  /** Position of the last run, from 0. */
  readonly last_position: number
  /** Names of all called tools, sorted. */
  readonly tools: readonly string[]
}

interface SurveySettings extends Expected {
  /** The command with another format. */
  readonly command: (format: FormatName) => string
  readonly report: (text: string) => void
}

/**
 * The first pass: collects the tools and reports each fault once; a file without runs gets one message. Rejects with
 * UsageError when there are no runs and the files are in another format.
 */
export async function surveyRuns(sources: readonly Source[], settings: SurveySettings): Promise<Survey> {
  const { format, command, report } = settings
  const read = createRunReader(format, sources.length)
  const tools = new Set<string>()
  const count = { runs: 0, bad_lines: 0, bad_documents: 0, last_position: 0 }
  /** Messages about files without runs, until there is a run. */
  const held: string[] = []
  const formats = new Set<FormatName | null>()
  for (const source of sources) {
    const file = await surveyFile(read, source, settings)
    count.runs += file.runs
    count.bad_lines += file.bad_lines
    count.bad_documents += file.bad_documents
    if (file.runs > 0) count.last_position = file.last_position
    for (const name of file.tools) tools.add(name)
    const [first] = file.held
    if (first !== undefined) {
      formats.add(otherFormatOf(first, format))
      held.push(noRunsText(first, file.bad_lines + file.bad_documents, settings))
    }
    if (count.runs > 0) for (const text of held.splice(0)) report(text)
  }
  const [other = null, ...others] = formats
  if (count.runs === 0 && other !== null && others.length === 0)
    throw new UsageError(`the runs are in the format ${other}, not ${format}; write:\n  ${command(other)}`)
  for (const text of held) report(text)
  return { ...count, tools: [...tools].sort() }
}

interface FileSurvey extends Survey {
  /** The faults of a file without runs; only the first of very many. */
  readonly held: readonly Fault[]
}

/** In memory until there is a run; a file of another kind has a fault on every line. */
const maxHeldFaults = 1000

async function surveyFile(read: RunReader, source: Source, settings: SurveySettings): Promise<FileSurvey> {
  const { report } = settings
  const tools = new Set<string>()
  const count = { runs: 0, bad_lines: 0, bad_documents: 0, last_position: 0 }
  const held: Fault[] = []
  let more = 0
  const reportHeld = () => {
    for (const fault of held.splice(0)) report(faultText(fault, settings))
    if (more > 0) report(`${source.name}: ${more} more before the first run could not be read`)
    more = 0
  }
  for await (const found of read(source)) {
    if (isRun(found)) {
      count.runs++
      count.last_position = found.position
      for (const name of toolsIn(found.transcript)) tools.add(name)
      reportHeld()
      continue
    }
    if (found.line === null) count.bad_documents++
    else count.bad_lines++
    if (count.runs > 0) report(faultText(found, settings))
    else if (held.length < maxHeldFaults) held.push(found)
    else more++
  }
  return { ...count, tools: [...tools], held }
}
