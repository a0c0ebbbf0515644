// Carrying out `svc import`: two passes over the file, so that it never has to be in memory.
import { lineTime, meaningOf, stepsOf } from '@svc/engine'
import { printable } from '@svc/proof'
import { createFileTarget } from './file.js'
import { type ImportPlan, planImport, UsageError } from './options.js'
import { createPlatformTarget } from './platform.js'
import { progressBar } from './progress.js'
import { type ImportReport, reportAsJson, reportAsText } from './report.js'
import { type ImportSource, withSource } from './source.js'
import { type ImportState, noState, openImportState } from './state.js'
import { runsOf, type Survey, surveyFile } from './survey.js'
import type { ImportOptions, ImportTarget } from './target.js'

/** Runs the import and reports on it; returns the exit code. */
export async function runImport(format: string, file: string, options: ImportOptions): Promise<number> {
  try {
    const plan = planImport(format, file, options)
    const report = await withSource(file, (source) => importRuns(source, file, plan))
    const { failures } = report.counts
    if (!options.json) for (const failure of failures) complain(`${nameOf(file)}: ${failure}`)
    process.stdout.write(`${options.json ? reportAsJson(report) : reportAsText(report)}\n`)
    return report.survey.bad_lines > 0 || failures.length > 0 ? 1 : 0
  } catch (error) {
    for (const line of (error instanceof Error ? error.message : String(error)).split('\n'))
      complain(`svc import: ${line}`)
    return error instanceof UsageError ? 2 : 1
  }
}

async function importRuns(source: ImportSource, file: string, plan: ImportPlan): Promise<ImportReport> {
  const survey = await surveyFile(source.path, (line, reason) => complain(`${nameOf(file)}:${line + 1} ${reason}`))
  checkTimes(plan, survey)
  const settings = { ...plan, declared_tools: survey.tools }
  const target = targetOf(source, plan)
  await target.begin(settings)
  const bar = progressBar(survey.runs, 'runs')
  let skipped_runs = 0
  try {
    for await (const { line, transcript } of runsOf(source.path, () => undefined)) {
      if (target.has(line)) skipped_runs++
      else await target.put(line, stepsOf(transcript, line, settings))
      bar.tick()
    }
    const counts = await target.finish()
    const guessed_tools = survey.tools.filter((name) => !meaningOf(name, plan.tools).certain)
    return { survey, counts, skipped_runs, guessed_tools }
  } finally {
    bar.stop()
  }
}

function complain(text: string): void {
  process.stderr.write(`${printable(text)}\n`)
}

function nameOf(file: string): string {
  return file === '-' ? '(stdin)' : file
}

/** The year 10000 cannot be written as RFC 3339. */
const endOfTime = Date.UTC(10_000, 0)

function checkTimes({ start }: ImportPlan, { last_line }: Survey): void {
  if (start + (last_line + 1) * lineTime >= endOfTime)
    throw new UsageError('--start is too late: a line takes an hour, and the last one lies beyond the year 9999')
}

function targetOf({ path, is_file }: ImportSource, { to, ...about }: ImportPlan): ImportTarget {
  if ('out' in to) return createFileTarget(to.out)
  return createPlatformTarget(to, is_file ? stateOf(path, [to.url, about], to.resume) : noState)
}

/** Being able to resume is a comfort; an import does not fail for want of it. */
function stateOf(path: string, about: readonly unknown[], resume: boolean): ImportState {
  try {
    return openImportState(path, about, resume)
  } catch (error) {
    complain(`what has been sent cannot be noted, so --resume would send it again: ${(error as Error).message}`)
    return noState
  }
}
