// `svc import`: two readings of the files, so that they are never in memory as a whole.

import { printable } from '@svc/proof'
import { UsageError } from '../errors.js'
import type { Terminal } from '../terminal.js'
import { commandWith, formatNamed, type ImportCall } from './format.js'
import { guessedTools } from './guesses.js'
import { progressBar } from './progress.js'
import type { FormatName } from './reading/formats.js'
import { type ImportOptions, type ImportPlan, planImport } from './reading/options.js'
import { type ImportReader, isFault, type Remarks } from './reading/reader.js'
import { type Source, withSources } from './reading/source.js'
import { surveyRuns } from './reading/survey.js'
import { faultText } from './reading/unreadable.js'
import { type ImportReport, reportAsJson, reportAsText } from './report.js'
import { createRunReader } from './run-reader.js'
import { createSessionReader } from './sessions/reader.js'
import { sourcesOf } from './sessions/sources.js'
import { createSpanReader } from './spans/reader.js'
import { createFileTarget } from './target/file.js'
import { createPlatformTarget } from './target/platform.js'
import type { ImportTarget } from './target/target.js'
import { createTraceReader } from './trace-reader.js'

/** Runs the import and prints its report; returns the exit code. */
export async function runImport(name: string, call: ImportCall): Promise<number> {
  const { file, options, terminal } = call
  const report = (text: string) => terminal.stderr.write(`${printable(text)}\n`)
  try {
    const format = await formatNamed(name, call)
    const plan = planImport(format, file, withKey(options, terminal.env))
    const from = { file, name: plan.agent_key, stdin: terminal.stdin }
    const done = await withSources(from, async (sources) =>
      importRuns(await sourcesOf(format, file, sources), { format, plan, call, report }),
    )
    const { failures } = done.counts
    if (!options.json) for (const failure of failures) report(`${nameOf(file)}: ${failure}`)
    terminal.stdout.write(`${options.json ? reportAsJson(done) : reportAsText(done)}\n`)
    const { bad_lines, bad_documents, bad_spans } = done.survey
    return bad_lines + bad_documents + bad_spans + failures.length > 0 ? 1 : 0
  } catch (error) {
    // An indented line is a command to paste.
    for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
      report(line.startsWith('  ') ? line : `svc import: ${line}`)
    return error instanceof UsageError ? 2 : 1
  }
}

interface Importing {
  readonly format: FormatName
  readonly plan: ImportPlan
  readonly call: ImportCall
  readonly report: (text: string) => void
}

async function importRuns(sources: readonly Source[], importing: Importing): Promise<ImportReport> {
  const { format, plan, call, report } = importing
  const { svc, stderr } = call.terminal
  const command = (other: FormatName) => commandWith(other, call)
  const reader = createReader(format, sources.length, plan)
  const survey = await surveyRuns(sources, reader, { format, svc, command, report })
  const agents = reader.agents()
  const target = targetOf(importing)
  await target.begin(agents)
  const bar = progressBar(stderr, survey.runs, 'runs')
  let bad_spans = survey.bad_spans
  try {
    for (const source of sources) {
      for await (const found of reader.read(source)) {
        if (isFault(found)) {
          report(faultText(found, { format, svc }))
          bad_spans++
          continue
        }
        await target.put(found.place, found.steps)
        if (found.continues !== true) bar.tick()
      }
    }
    const counts = await target.finish()
    const declared = agents.flatMap(({ declared_tools = [] }) => declared_tools)
    const tools = reader.guessed_tools?.() ?? [...new Set(declared)].sort()
    const guessed_tools = format === 'trace' ? [] : guessedTools(tools, plan.tools)
    return { survey: { ...survey, bad_spans }, counts, guessed_tools, remarks: remarksOf(format, reader, bad_spans) }
  } finally {
    bar.stop()
  }
}

/** Only spans have a count of their own; lines and documents are counted for every format. */
function remarksOf(format: FormatName, reader: ImportReader, bad_spans: number): Remarks {
  const { lines, members } = reader.remarks()
  return { lines, members: { ...(format === 'otel' && { bad_spans }), ...members } }
}

function createReader(format: FormatName, files: number, plan: ImportPlan): ImportReader {
  if (format === 'otel') return createSpanReader(plan)
  if (format === 'claude-code' || format === 'codex') return createSessionReader(format, plan)
  return format === 'trace' ? createTraceReader(plan) : createRunReader(format, files, plan)
}

function nameOf(file: string): string {
  return file === '-' ? '(stdin)' : file
}

function targetOf({ plan: { to }, report }: Importing): ImportTarget {
  return 'out' in to ? createFileTarget(to.out) : createPlatformTarget(to, report)
}

/** The key of `--api-key`, else of the environment. */
function withKey(options: ImportOptions, { SVC_API_KEY }: Terminal['env']): ImportOptions {
  return SVC_API_KEY === undefined ? options : { apiKey: SVC_API_KEY, ...options }
}
