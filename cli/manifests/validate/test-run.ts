// The work of `svc test`: runs the tests, and prints expected, got, and the answer of each policy.
import type { Writable } from 'node:stream'
import { readManifestFiles, validateFiles } from '@svc/engine'
import {
  counted,
  type ExplainedPolicy,
  type LocatedTest,
  type ValidatedManifest,
  type Validation,
  validationReport,
} from '@svc/engine/parts'
import { printable } from '@svc/proof'
import { inColour } from '../colour.js'
import { findingLines, isFailure, linesOf } from '../findings-text.js'

export interface TestOptions {
  readonly filter?: string
  readonly coverage?: true
  readonly requireTests?: true
  readonly strict?: true
  readonly json?: true
}

/** Returns the exit code. */
export async function runTestCommand(
  paths: readonly string[],
  options: TestOptions,
  out: Writable,
  shown: (text: string) => string,
): Promise<number> {
  const { filter, coverage = false, requireTests = false } = options
  const files = await readManifestFiles(paths)
  const validation = validateFiles(files, {
    tests: requireTests ? 'required' : 'some',
    coverage,
    root: paths[0] ?? '.',
    now: Date.now(),
    ...(filter !== undefined && { filter }),
  })
  if (options.json === true) out.write(`${JSON.stringify(validationReport(validation), null, 2)}\n`)
  else out.write(shown(`${textOf(validation, linesOf(files)).join('\n')}\n`))
  return isFailure(validation.findings, options.strict === true) ? 1 : 0
}

/** Failed tests are shown with their manifest, and untested policies in the table of the coverage. */
function textOf(validation: Validation, files: ReturnType<typeof linesOf>): string[] {
  const shown = validation.findings.filter(({ id }) => id !== 'test-failed' && id !== 'untested-policy')
  return [
    ...shown.flatMap((finding) => findingLines(finding, files)),
    ...validation.manifests.flatMap(testLines),
    ...validation.manifests.flatMap(coverageLines),
    testTotals(validation),
  ]
}

/** The tests of a manifest, below its path. */
function testLines({ file, tests, valid }: ValidatedManifest): string[] {
  if (!valid && tests.length === 0) return [`${printable(file)}: not tested, because it has errors`, '']
  if (tests.length === 0) return []
  return [inColour('bold', printable(file)), ...tests.flatMap(linesOfTest), '']
}

function linesOfTest({ name, passed, failures, policies, file, line }: LocatedTest): string[] {
  const mark = passed ? inColour('green', '✓') : inColour('red', '✗')
  if (passed) return [`  ${mark} ${printable(name)}`]
  return [
    `  ${mark} ${printable(name)}  ${inColour('dim', printable(`${file}:${line}`))}`,
    ...failures.map((failure) => `      ${printable(failure)}`),
    ...policies.toSorted(byAnswer).flatMap(linesOfPolicy),
  ]
}

const order: Readonly<Record<ExplainedPolicy['answer'], number>> = {
  violated: 0,
  approved: 1,
  passed: 2,
  not_applicable: 3,
}

function byAnswer(a: ExplainedPolicy, b: ExplainedPolicy): number {
  return order[a.answer] - order[b.answer]
}

function linesOfPolicy({ name, answer, severity, violation_details: details }: ExplainedPolicy): string[] {
  const head = `        ${answer.replace('_', ' ').padEnd(16)}${printable(name)}`
  if (details === null) return [head]
  const remedy = details.remedy === null ? [] : [`${' '.repeat(26)}remedy: ${printable(details.remedy)}`]
  return [`${head} (${severity})`, `${' '.repeat(26)}${printable(details.reason)}`, ...remedy]
}

/** The numbers of tests that violated and passed each policy and each condition. */
function coverageLines({ file, coverage }: ValidatedManifest): string[] {
  if (coverage === null) return []
  const rows = coverage.policies.flatMap((policy) => [
    row(policy.name, policy),
    ...policy.branches.map((branch) => row(`  ${branch.path} ${branch.rule_type}`, branch)),
  ])
  const share = coverage.sides === 0 ? 100 : Math.floor((100 * coverage.covered) / coverage.sides)
  return [
    `coverage of ${printable(file)}: ${share} % (${coverage.covered} of ${coverage.sides}: each policy and condition violated and passed)`,
    `  ${'violated'.padStart(8)}  ${'passed'.padStart(8)}`,
    ...rows,
    '',
  ]
}

function row(name: string, { violated, passed }: { violated: number; passed: number }): string {
  const cell = (count: number) => {
    const text = `${count}`.padStart(8)
    return count === 0 ? inColour('yellow', text) : text
  }
  return `  ${cell(violated)}  ${cell(passed)}  ${printable(name)}`
}

/** One line about all tests. */
function testTotals({ manifests, findings }: Validation): string {
  const tests = manifests.flatMap((manifest) => manifest.tests)
  const failed = tests.filter(({ passed }) => !passed).length
  const errors = findings.filter(({ id, severity }) => severity === 'error' && id !== 'test-failed').length
  const others = errors === 0 ? '' : `; ${counted(errors, 'other error')}`
  return `${counted(manifests.length, 'manifest')}, ${counted(tests.length, 'test')}: ${tests.length - failed} passed, ${failed} failed${others}`
}
