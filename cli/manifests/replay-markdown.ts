// A replay as Markdown, for a job summary or a comment.
import {
  type Cause,
  markdownCode,
  markdownText,
  type PolicyTally,
  type ReplayResult,
  type StepPlace,
} from '@svc/engine'
import {
  byWeight,
  causeTitle,
  counted,
  explainCommandFor,
  type ReplayReport,
  remarkOn,
  stepName,
  summaryOf,
} from './replay-report.js'

/** The whole report. Names and texts of manifests and traces are text in it and nothing else. */
export function replayMarkdown(report: ReplayReport): string {
  const { result, findings } = report
  const [first = '', ...others] = summaryOf(report).map(markdownText)
  const lines = [
    `**${first}**`,
    '',
    ...others.map((line) => `- ${line}`),
    '',
    ...table(result),
    ...(result.flipped_tasks === null ? blocks(report) : flips(report)),
    ...(findings.length > 0 ? ['', '**Findings**', ''] : []),
    ...findings.map(
      ({ id, file, line, message }) => `- ${markdownCode(`${file}:${line}`)} ${id}: ${markdownText(message)}`,
    ),
  ]
  return `${lines.join('\n')}\n`
}

function table(result: ReplayResult): string[] {
  return [
    '| policy | severity | applied | passed | violated | blocked | asked | tasks | |',
    '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |',
    ...result.policies.toSorted(byWeight).map((policy) => row(policy, result)),
  ]
}

function row(policy: PolicyTally, result: ReplayResult): string {
  const { name, severity, applicable, passed, violated, blocked, asked, tasks_violated } = policy
  const counts = [applicable, passed, violated, blocked, asked, tasks_violated]
  return `| ${markdownText(name)} | ${severity} | ${counts.join(' | ')} | ${remarkOn(policy, result)} |`
}

function blocks(report: ReplayReport): string[] {
  const { total, listed } = report.result.first_blocks
  if (total === 0) return []
  return [
    '',
    `**First steps that would not have been allowed** (${listed.length} of ${counted(total, 'task')})`,
    '',
    ...listed.flatMap((found) => item(found.outcome, found, found.policies, report)),
  ]
}

function flips(report: ReplayReport): string[] {
  const { total, listed } = report.result.flips
  if (total === 0) return []
  return [
    '',
    `**Steps whose outcome changes** (${listed.length} of ${total})`,
    '',
    ...listed.flatMap((found) => item(`${found.before} → ${found.after}`, found, found.policies, report)),
  ]
}

function item(outcome: string, place: StepPlace, causes: readonly Cause[], report: ReplayReport): string[] {
  const command = explainCommandFor(place, causes, report)
  return [
    `- **${outcome}** ${markdownText(stepName(place))}`,
    ...causes.map((cause) => {
      const why = `${cause.reason}; remedy: ${cause.remedy ?? 'none known'}`
      return `  - ${markdownText(causeTitle(cause))}: ${markdownText(why)}`
    }),
    ...(command === null ? [] : [`  - ${markdownCode(command)}`]),
  ]
}
