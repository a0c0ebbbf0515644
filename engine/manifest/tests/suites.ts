// The tests of a manifest: those in the file and those of a file beside it.
import type { Manifest } from '@svc/schemas'
import { quote } from '../../check/quote.js'
import { type Finding, findingAt } from '../../findings/finding.js'
import { type ManifestReading, type ManifestTest, parseTestFile } from '../parse/parse.js'
import { runTests, setsByAgent, type TestResult } from './test.js'

/** A file as it was read. */
export interface SourceFile {
  readonly path: string
  /** Null when the file cannot be read; `problem` says why. */
  readonly text: string | null
  readonly problem?: string
  /** Named by the caller rather than found in a folder: it counts as a manifest in any case. */
  readonly named: boolean
}

export interface LocatedTest extends TestResult {
  readonly file: string
  readonly line: number
}

/** Tests of one file. */
export interface Suite {
  readonly file: string
  readonly tests: readonly ManifestTest[]
  readonly positionOf: ManifestReading['positionOf']
  readonly findings?: readonly Finding[]
}

/** The tests of a sibling file. Names of policies are compared only when those of the manifest are known. */
export function suiteOf({ path, text }: SourceFile, names: readonly string[], isBroken: boolean): Suite {
  const { value, errors, warnings, positionOf } = parseTestFile(text ?? '', path, names)
  const certain = isBroken ? errors.filter(({ id }) => id !== 'unknown-policy') : errors
  return { file: path, tests: value ?? [], positionOf, findings: [...certain, ...warnings] }
}

export interface ChosenSuite extends Omit<Suite, 'tests'> {
  readonly tests: readonly { readonly test: ManifestTest; readonly index: number }[]
}

/** The tests whose name contains the filter, with their index in the file. */
export function chosenOf(suite: Suite, filter: string | undefined): ChosenSuite {
  const tests = suite.tests
    .map((test, index) => ({ test, index }))
    .filter(({ test }) => filter === undefined || test.name.includes(filter))
  return { ...suite, tests }
}

/** The result of each test, with a finding for one that failed. */
export function resultsOf(
  manifest: Manifest,
  { file, tests, positionOf }: ChosenSuite,
  setFor = setsByAgent(manifest),
) {
  const results = runTests(
    manifest,
    tests.map(({ test }) => test),
    setFor,
  )
  return results.map((result, place): { result: LocatedTest; finding: Finding | null } => {
    const path = ['tests', `${tests[place]?.index}`]
    const { line, column } = positionOf([...path, 'name'], false)
    const message = `the test ${quote(result.name)} failed: ${result.failures.join('; ')}`
    const finding = result.passed
      ? null
      : findingAt('test-failed', message, { file, line, column, path: path.join('.') })
    return { result: { ...result, file, line }, finding }
  })
}
