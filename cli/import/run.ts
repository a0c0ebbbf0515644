// `svc import`: two passes over the file, so that it is never in memory as a whole.
import { lineTime, meaningOf, stepsOf } from '@svc/engine'
import { printable } from '@svc/proof'
import { createFileTarget } from './file.js'
import { type ImportOptions, type ImportPlan, planImport, UsageError } from './options.js'
import { createPlatformTarget } from './platform.js'
import { progressBar } from './progress.js'
import { type ImportReport, reportAsJson, reportAsText } from './report.js'
import { withSource } from './source.js'
import { runsOf, type Survey, surveyFile } from './survey.js'
import type { ImportTarget } from './target.js'

/** Runs the import and prints its report; returns the exit code. */
export async function runImport(format: string, file: string, options: ImportOptions): Promise<number> {
  try {
    const plan = planImport(format, file, options)
    const report = await withSource(file, (path) => importRuns(path, nameOf(file), plan))
    const { failures } = report.counts
    if (!options.json) for (const failure of failures) printError(`${nameOf(file)}: ${failure}`)
    process.stdout.write(`${options.json ? reportAsJson(report) : reportAsText(report)}\n`)
    return report.survey.bad_lines > 0 || failures.length > 0 ? 1 : 0
  } catch (error) {
    for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
      printError(`svc import: ${line}`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function importRuns(path: string, name: string, plan: ImportPlan): Promise<ImportReport> {
  const survey = await surveyFile(path, (line, reason) => printError(`${name}:${line + 1} ${reason}`))
  checkTimes(plan, survey)
  const settings = { ...plan, declared_tools: survey.tools }
  const target = targetOf(plan)
  await target.begin(settings)
  const bar = progressBar(survey.runs, 'runs')
  try {
    for await (const { line, transcript } of runsOf(path, () => undefined)) {
      await target.put(line, stepsOf(transcript, line, settings))
      bar.tick()
    }
    const counts = await target.finish()
    const guessed_tools = survey.tools.filter((name) => !meaningOf(name, plan.tools).certain)
    return { survey, counts, guessed_tools }
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

function checkTimes({ start }: ImportPlan, { last_line }: Survey): void {
  if (start + (last_line + 1) * lineTime >= maxTime)
    throw new UsageError('`--start` is too late: each line takes an hour, and the last one is after the year 9999')
}

function targetOf({ to }: ImportPlan): ImportTarget {
  return 'out' in to ? createFileTarget(to.out) : createPlatformTarget(to)
}
