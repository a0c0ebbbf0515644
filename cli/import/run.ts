// `svc import`: two passes over the files, so that they are never in memory as a whole.
import { type FormatName, lineTime, stepsOf } from '@svc/engine'
import { printable } from '@svc/proof'
import { createFileTarget } from './file.js'
import { commandWith, formatNamed, type ImportCall } from './format.js'
import { guessedTools } from './guesses.js'
import { type ImportPlan, planImport } from './options.js'
import { createPlatformTarget } from './platform.js'
import { progressBar } from './progress.js'
import { type ImportReport, reportAsJson, reportAsText } from './report.js'
import { createRunReader, isRun } from './runs.js'
import { type Source, withSources } from './source.js'
import { type Survey, surveyRuns } from './survey.js'
import type { ImportTarget } from './target.js'
import { UsageError } from './usage-error.js'

/** Runs the import and prints its report; returns the exit code. */
export async function runImport(name: string, call: ImportCall): Promise<number> {
  const { file, options } = call
  try {
    const format = await formatNamed(name, call)
    const plan = planImport(file, options)
    const report = await withSources(file, plan.agent_key, (sources) => importRuns(sources, format, plan, call))
    const { failures } = report.counts
    if (!options.json) for (const failure of failures) printError(`${nameOf(file)}: ${failure}`)
    process.stdout.write(`${options.json ? reportAsJson(report) : reportAsText(report)}\n`)
    const { bad_lines, bad_documents } = report.survey
    return bad_lines + bad_documents + failures.length > 0 ? 1 : 0
  } catch (error) {
    // An indented line is a command to paste.
    for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
      printError(line.startsWith('  ') ? line : `svc import: ${line}`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function importRuns(
  sources: readonly Source[],
  format: FormatName,
  plan: ImportPlan,
  call: ImportCall,
): Promise<ImportReport> {
  const command = (other: FormatName) => commandWith(other, call)
  const survey = await surveyRuns(sources, { format, svc: call.svc, command, report: printError })
  checkTimes(plan, survey)
  const settings = { ...plan, declared_tools: survey.tools }
  const target = targetOf(plan)
  await target.begin(settings)
  const bar = progressBar(survey.runs, 'runs')
  const read = createRunReader(format, sources.length)
  try {
    for (const source of sources) {
      for await (const found of read(source)) {
        if (!isRun(found)) continue
        await target.put(found.place, stepsOf(found.transcript, found.position, settings))
        bar.tick()
      }
    }
    const counts = await target.finish()
    return { survey, counts, guessed_tools: guessedTools(survey.tools, plan.tools) }
  } finally {
    bar.stop()
  }
}

function printError(text: string): void {
  process.stderr.write(`${printable(text)}\n`)
}

function nameOf(file: string): string {
  return file === '-' ? '(stdin)' : file
}

/** The year 10000 cannot be written as RFC 3339. */
const maxTime = Date.UTC(10_000, 0)

function checkTimes({ start }: ImportPlan, { last_position }: Survey): void {
  if (start + (last_position + 1) * lineTime >= maxTime)
    throw new UsageError('`--start` is too late: each run takes an hour, and the last one is after the year 9999')
}

function targetOf({ to }: ImportPlan): ImportTarget {
  return 'out' in to ? createFileTarget(to.out) : createPlatformTarget(to)
}
