// What `svc check` found, as text for a person.
import { type Analysis, type AnalysisFinding, counted, type FoundPath, type Goal } from '@svc/engine/parts'
import type { Step } from '@svc/schemas'

/** The analysis of one manifest, or of several as one set. */
export interface Checked extends Analysis {
  readonly files: readonly string[]
}

/** The findings, the paths on request, and a line that sums up. */
export function checkedLines(checked: readonly Checked[], with_paths: boolean): string[] {
  return [
    ...checked.flatMap(({ findings }) => findings.flatMap(findingLines)),
    ...(with_paths ? checked.flatMap(pathLines) : []),
    summaryOf(checked),
  ]
}

function findingLines({ severity, file, line, column, policy, id, message }: AnalysisFinding): string[] {
  return [`${file}:${line}:${column}: ${severity}: ${policy} [${id}]`, `  ${message}`, '']
}

function pathLines({ files, goals }: Checked): string[] {
  if (goals.length === 0) return [`${files.join(', ')}: no critical policy can block a step`, '']
  return [`${files.join(', ')}: shortest paths that every critical policy allows`, ...goals.flatMap(goalLines), '']
}

function goalLines({ step, path, blocked_by }: Goal): string[] {
  const head = `  to a step that is ${step}`
  if (path !== null) return [head, ...stepLines(path)]
  if (blocked_by.length === 0) return [head, '    no path was found, which proves nothing: the search is bounded']
  return [head, `    none: blocked by ${blocked_by.map((name) => `\`${name}\``).join(', ')}`]
}

function stepLines({ steps }: FoundPath): string[] {
  return steps.map((step, index) => `    ${index + 1}. ${stepInWords(step)}`)
}

function stepInWords({ step_type, verb, step_name, ...members }: Step): string {
  const head = [step_type, verb, step_name].filter((word) => word !== undefined).join(' ')
  const text = JSON.stringify(members)
  const shown = text.length > 160 ? `${text.slice(0, 160)}…` : text
  return text === '{}' ? head : `${head} ${shown}`
}

function summaryOf(checked: readonly Checked[]): string {
  const findings = checked.flatMap((one) => one.findings)
  const goals = checked.flatMap((one) => one.goals)
  const reached = goals.filter(({ path }) => path !== null).length
  const warnings = findings.filter(({ severity }) => severity === 'warning').length
  const found =
    findings.length === 0
      ? 'no findings'
      : `${counted(warnings, 'warning')}, ${counted(findings.length - warnings, 'note')}`
  const policies = checked.reduce((sum, one) => sum + one.policies, 0)
  const ways = goals.length === 0 ? '' : `, a path found to ${reached} of ${counted(goals.length, 'targeted action')}`
  return `${found}: ${counted(policies, 'policy', 'policies')} checked${ways}`
}
