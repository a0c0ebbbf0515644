// Results of manifest tests as text: expected, got, and the answer of each policy.
import {
  counted,
  type ExplainedPolicy,
  type LocatedTest,
  type ValidatedManifest,
  type Validation,
} from '@svc/engine/parts'
import { printable } from '@svc/proof'
import { inColour } from './colour.js'

/** The tests of a manifest, below its path. */
export function testLines({ file, tests, valid }: ValidatedManifest): string[] {
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

/** How often the tests violated and passed each policy and each condition. */
export function coverageLines({ file, coverage }: ValidatedManifest): string[] {
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
export function testTotals({ manifests, findings }: Validation): string {
  const tests = manifests.flatMap((manifest) => manifest.tests)
  const failed = tests.filter(({ passed }) => !passed).length
  const errors = findings.filter(({ id, severity }) => severity === 'error' && id !== 'test-failed').length
  const others = errors === 0 ? '' : `; ${counted(errors, 'other error')}`
  return `${counted(manifests.length, 'manifest')}, ${counted(tests.length, 'test')}: ${tests.length - failed} passed, ${failed} failed${others}`
}
