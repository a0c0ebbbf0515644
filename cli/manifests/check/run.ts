// Reads the manifests, analyses them, and prints what was found.
import type { Writable } from 'node:stream'
import { parseManifest, readPolicyFiles } from '@svc/engine'
import {
  type Analysis,
  type AnalysisFinding,
  analyse,
  counted,
  type FoundPath,
  type Goal,
  isManifest,
  parseTestFile,
  type ReadManifest,
  readIfThere,
  testFilesOf,
} from '@svc/engine/parts'
import { jsonText, printable } from '@svc/proof'
import type { Step } from '@svc/schemas'

export interface CheckOptions {
  readonly together?: true
  readonly paths?: true
  readonly strict?: true
  readonly json?: true
}

/** The analysis of one manifest, or of several as one set. */
interface Checked extends Analysis {
  readonly files: readonly string[]
}

/** Returns the exit code. */
export async function runCheck(
  paths: readonly string[],
  options: CheckOptions,
  out: Writable,
  err: Writable,
): Promise<number> {
  const unreadable: string[] = []
  const found = await readPolicyFiles(paths, (error) => unreadable.push(String((error as Error).message)))
  const files = found.filter(isManifest)
  const problem = unreadable[0] ?? (files.length === 0 ? `no manifest in ${paths.join(', ')}` : null)
  if (problem !== null) {
    err.write(`svc check: ${printable(problem)}\n`)
    return 2
  }
  const manifests = files.map(({ path, text }) => readManifest(path, text))
  const invalid = manifests.flatMap(({ reading }) => reading.errors)
  for (const { file, line, column, message } of invalid)
    err.write(`${printable(`${file}:${line}:${column}: ${message}`)}\n`)
  const checked = checkedSets(manifests, options.together === true)
  out.write(options.json ? `${jsonText({ checked })}\n` : textOf(checked, options.paths === true))
  const warnings = checked.some(({ findings }) => findings.some(({ severity }) => severity === 'warning'))
  return invalid.length > 0 || (warnings && options.strict === true) ? 1 : 0
}

function readManifest(file: string, text: string) {
  const reading = parseManifest(text, file)
  const names = reading.value?.policies.map(({ name }) => name) ?? []
  const tests_beside = testFilesOf(file).flatMap(
    (path) => parseTestFile(readIfThere(path) ?? '', path, names).value ?? [],
  )
  return { file, text, reading, tests_beside }
}

function checkedSets(manifests: readonly ReadManifest[], together: boolean): Checked[] {
  const sets = together ? [manifests] : manifests.map((one) => [one])
  return sets.map((set) => ({ files: set.map(({ file }) => file), ...analyse(set) }))
}

function textOf(checked: readonly Checked[], with_paths: boolean): string {
  return `${checkedLines(checked, with_paths).map(printable).join('\n')}\n`
}

/** The findings, the paths on request, and a line that sums up. */
function checkedLines(checked: readonly Checked[], with_paths: boolean): string[] {
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
