// A replay as text for a person.
import type { Cause, PolicyTally, ReplayResult, StepPlace } from '@svc/engine'
import {
  byWeight,
  causeTitle,
  counted,
  explainCommandFor,
  placeOf,
  type ReplayReport,
  remarkOn,
  shortened,
  stepName,
  summaryOf,
} from './replay-report.js'

/** Summary, a row for each policy, the steps that changed or were blocked first, and findings; not yet safe for a terminal. */
export function replayText(report: ReplayReport): string[] {
  const { result, findings } = report
  const steps = result.flipped_tasks === null ? blocks(report) : flips(report)
  return [
    ...summaryOf(report),
    '',
    ...table(result),
    ...steps,
    ...(findings.length > 0 ? ['', 'findings'] : []),
    ...findings.map(
      ({ severity, id, message, ...place }) =>
        `  ${placeOf({ manifest: place.file, line: place.line })}: ${severity} [${id}] ${message}`,
    ),
  ]
}

const heads = ['policy', 'severity', 'applied', 'passed', 'violated', 'blocked', 'asked', 'tasks', '']

function table(result: ReplayResult): string[] {
  const rows = [heads, ...result.policies.toSorted(byWeight).map((policy) => cells(policy, result))]
  const widths = heads.map((_, column) => Math.max(...rows.map((row) => [...(row[column] ?? '')].length)))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const space = ' '.repeat((widths[column] ?? 0) - [...cell].length)
        return column >= 2 && column <= 7 ? space + cell : cell + space
      })
      .join('  ')
      .trimEnd(),
  )
}

function cells(policy: PolicyTally, result: ReplayResult): string[] {
  const { applicable, passed, violated, blocked, asked, tasks_violated } = policy
  const mode = policy.mode === 'observe' ? ', observed' : ''
  const counts = [applicable, passed, violated, blocked, asked, tasks_violated].map(String)
  return [shortened(policy.name), `${policy.severity}${mode}`, ...counts, remarkOn(policy, result)]
}

function blocks(report: ReplayReport): string[] {
  const { total, listed } = report.result.first_blocks
  if (total === 0) return []
  return [
    '',
    `first steps that would not have been allowed (${listed.length} of ${counted(total, 'task')})`,
    ...listed.flatMap((found) => [
      '',
      `${found.outcome}  ${stepName(found)}`,
      ...details(found, found.policies, report),
    ]),
  ]
}

function flips(report: ReplayReport): string[] {
  const { total, listed } = report.result.flips
  if (total === 0) return []
  return [
    '',
    `steps whose outcome changes (${listed.length} of ${total})`,
    ...listed.flatMap((found) => [
      '',
      `${found.before} → ${found.after}  ${stepName(found)}`,
      ...details(found, found.policies, report),
    ]),
  ]
}

function details(place: StepPlace, causes: readonly Cause[], report: ReplayReport): string[] {
  const command = explainCommandFor(place, causes, report)
  return [
    ...causes.flatMap((cause) => [
      `  ${causeTitle(cause)}`,
      `    why      ${cause.reason} [${cause.code}]`,
      `    remedy   ${cause.remedy ?? 'none known'}`,
    ]),
    ...(command === null ? [] : [`  ${command}`]),
  ]
}
