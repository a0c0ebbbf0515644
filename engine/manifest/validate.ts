// Validates manifests and runs their tests: the one core behind `svc validate`, `svc test`, the GitHub Action and the API.
import type { Manifest } from '@svc/schemas'
import { bracketed, quote } from '../check/quote.js'
import { byPlace, type Finding, findingAt, startOf } from '../findings/finding.js'
import { waiverEnd } from './agent/waiver-days.js'
import { isTestFile, manifestsOfTestFile, testFilesOf } from './file-names.js'
import { isManifest, looksLikeTests } from './looks-like-manifest.js'
import { type ManifestReading, parseManifest } from './parse/parse.js'
import { type Coverage, coverageOf, type PolicyCoverage, type Tally } from './tests/coverage.js'
import { chosenOf, type LocatedTest, resultsOf, type SourceFile, type Suite, suiteOf } from './tests/suites.js'
import { setsByAgent } from './tests/test.js'

export interface ValidationOptions {
  /** `required`: a manifest without tests is an error; `some`: all files together need one. */
  readonly tests: 'off' | 'if-present' | 'some' | 'required'
  /** Runs the tests whose name contains this text. */
  readonly filter?: string
  readonly coverage?: boolean
  /** Tests do not run when their number times that of the policies is larger. */
  readonly max_answers?: number
  /** The path that findings about all files name; by default the first file. */
  readonly root?: string
  /** Time of the validation, ms since 1970: a waiver may have ended. */
  readonly now: number
}

export interface ValidatedManifest {
  readonly file: string
  readonly name: string | null
  readonly version: string | null
  /** The number of valid policies. */
  readonly policies: number
  readonly valid: boolean
  /** The manifest, when it has no errors. */
  readonly value: Manifest | null
  /** Results of its tests, which run when it has no errors. */
  readonly tests: readonly LocatedTest[]
  readonly coverage: Coverage | null
}

export interface Validation {
  readonly manifests: readonly ValidatedManifest[]
  /** In the order of files and lines. */
  readonly findings: readonly Finding[]
  /** YAML files of folders that are no manifests. */
  readonly skipped: readonly string[]
}

interface Validated extends ValidatedManifest {
  readonly findings: readonly Finding[]
}

/** Validates files; never throws. */
export function validateFiles(files: readonly SourceFile[], options: ValidationOptions): Validation {
  const readable = files.filter(({ text }) => text !== null)
  const tests = readable.filter(({ path }) => isTestFile(path))
  const others = readable.filter(({ path }) => !isTestFile(path))
  const sources = new Set(others.filter(isManifest))
  const manifests = [...sources].map((file) => validateManifest(file, tests, options))
  const findings = [
    ...files.filter(({ text }) => text === null).map(unreadable),
    ...manifests.flatMap((manifest) => manifest.findings),
    ...findingsOfAll(manifests, files, tests, options),
  ]
  return {
    manifests: manifests.map(({ findings: _, ...manifest }) => manifest),
    findings: findings.sort(byPlace),
    skipped: others.filter((file) => !sources.has(file)).map(({ path }) => path),
  }
}

/** Validates one text as a manifest; never throws. */
export function validateText(text: string, file: string, options: ValidationOptions): Validation {
  return validateFiles([{ path: file, text, named: true }], options)
}

/**
 * The errors of a valid manifest that are in its tests only, as `validateFiles` finds them, with those of files beside it. Null for
 * a test that passes, so that a caller can pause after each.
 */
export function* testErrors(file: SourceFile, testFiles: readonly SourceFile[]): Generator<Finding | null> {
  const reading = parseManifest(file.text ?? '', file.path)
  const { value } = reading
  if (value === null) return
  const own = { file: file.path, tests: value.tests ?? [], positionOf: reading.positionOf, findings: [] }
  const suites = [own, ...suitesBeside(file.path, testFiles, value, false)]
  const wrong = suites.flatMap(({ findings = [] }) => findings.filter(({ severity }) => severity === 'error'))
  yield* [...testFiles.filter(({ text }) => text === null).map(unreadable), ...wrong]
  if (wrong.length > 0) return
  const setFor = setsByAgent(value)
  for (const suite of suites.map((one) => chosenOf(one, undefined)))
    for (const test of suite.tests)
      for (const { finding } of resultsOf(value, { ...suite, tests: [test] }, setFor)) yield finding
  if (value.tests !== undefined && suites.every(({ tests }) => tests.length === 0))
    yield withoutTests(file.path, reading)
}

/** The tests in files beside a manifest. */
function suitesBeside(path: string, testFiles: readonly SourceFile[], value: Manifest | null, isBroken: boolean) {
  const names = value?.policies.map(({ name }) => name) ?? []
  return testFiles
    .filter((one) => one.text !== null && testFilesOf(path).includes(one.path))
    .map((one) => suiteOf(one, names, isBroken))
}

function validateManifest(file: SourceFile, testFiles: readonly SourceFile[], options: ValidationOptions): Validated {
  const { path, text } = file
  const reading = parseManifest(text ?? '', path)
  const { value, errors } = reading
  const beside = suitesBeside(path, testFiles, value, errors.length > 0)
  const suites = [{ file: path, tests: value?.tests ?? [], positionOf: reading.positionOf }, ...beside]
  const findings = [
    ...errors,
    ...warningsWith(reading, file, beside),
    ...suites.flatMap((suite) => suite.findings ?? []),
    ...waiverDays(reading, path, options),
  ]
  const valid = !findings.some(({ severity }) => severity === 'error')
  const usable = valid ? value : null
  const head = {
    file: path,
    name: value?.name ?? null,
    version: value?.version ?? null,
    policies: value?.policies.length ?? 0,
  }
  if (usable === null || options.tests === 'off')
    return { ...head, valid, value: usable, tests: [], coverage: null, findings }
  const chosen = suites.map((suite) => chosenOf(suite, options.filter))
  const count = chosen.reduce((sum, suite) => sum + suite.tests.length, 0)
  if (count * usable.policies.length > (options.max_answers ?? Number.POSITIVE_INFINITY)) {
    const tooMany = findingAt('tests-not-run', notRun(count), startOf(path))
    return { ...head, valid, value: usable, tests: [], coverage: null, findings: [...findings, tooMany] }
  }
  const results = chosen.flatMap((suite) => resultsOf(usable, suite))
  const all = chosen.flatMap(({ tests }) => tests.map(({ test }) => test))
  const coverage = options.coverage === true ? coverageOf(usable, all) : null
  const written = suites.reduce((sum, suite) => sum + suite.tests.length, 0)
  return {
    ...head,
    valid,
    value: usable,
    tests: results.map(({ result }) => result),
    coverage,
    findings: [
      ...findings,
      ...results.flatMap(({ finding }) => finding ?? []),
      ...(written === 0 && (options.tests === 'required' || usable.tests !== undefined)
        ? [withoutTests(path, reading)]
        : []),
      ...(coverage?.policies ?? []).flatMap((policy, index) => untested(policy, path, reading.lines[index] ?? 1)),
    ],
  }
}

/** The warnings of a manifest; those about its tests name the tests of files beside it as well. */
function warningsWith(
  { warnings }: ManifestReading,
  { path, text }: SourceFile,
  beside: readonly Pick<Suite, 'tests'>[],
): readonly Finding[] {
  const tests = beside.flatMap((suite) => suite.tests)
  const named = tests.length > 0 && warnings.some(({ id }) => id === 'no-target')
  return named ? parseManifest(text ?? '', path, tests).warnings : warnings
}

/** A waiver is for a time in which its reason can be removed: a year, and the last day; ms. */
const farMs = 367 * 86_400_000

/** Waivers that have ended, and waivers that last for years. */
function waiverDays({ value, positionOf }: ManifestReading, file: string, { now }: ValidationOptions): Finding[] {
  return (value?.waivers ?? []).flatMap(({ policy, agent_key, expires }, index) => {
    const end = waiverEnd(expires)
    const isPast = end !== null && end <= now
    if (end === null || (!isPast && end <= now + farMs)) return []
    const path = ['waivers', `${index}`, 'expires']
    const waiver = `\`waivers[${index}].expires\`: the waiver of ${quote(policy)} for ${quote(agent_key)}`
    const place = { file, ...positionOf(path, false), path: path.join('.') }
    return isPast
      ? [findingAt('expired-waiver', `${waiver} ended on ${expires}: remove it, or have it approved again`, place)]
      : [findingAt('far-waiver', `${waiver} lasts until ${expires}, ${farWords}`, place)]
  })
}

const farWords = 'more than a year from now: write an earlier day, and have the waiver approved again when it ends'

function withoutTests(file: string, { positionOf }: ManifestReading): Finding {
  const message = 'the manifest has no test: add `tests`, with a step that violates each policy and one that passes'
  return findingAt('no-tests', message, { file, ...positionOf(['tests'], true), path: 'tests' })
}

function untested(policy: PolicyCoverage, file: string, line: number): Finding[] {
  const parts = [
    { ...policy, words: `the policy ${quote(policy.name)}` },
    ...policy.branches.map((branch) => {
      return { ...branch, words: `\`${bracketed(branch.path)}\` of ${quote(policy.name)}` }
    }),
  ]
  return parts.flatMap((part) => {
    const missing = missingSides(part)
    if (missing === null) return []
    return [findingAt('untested-policy', `no test ${missing} ${part.words}`, { file, line, column: 1, path: '' })]
  })
}

function missingSides({ violated, passed }: Tally): string | null {
  if (violated > 0) return passed > 0 ? null : 'passes'
  return passed > 0 ? 'violates' : 'violates or passes'
}

function findingsOfAll(
  manifests: readonly Validated[],
  files: readonly SourceFile[],
  tests: readonly SourceFile[],
  options: ValidationOptions,
): Finding[] {
  const [first] = files
  const whole = startOf(first?.path ?? options.root ?? '.')
  const misnamed = files.filter(
    ({ path, text }) => !isTestFile(path) && !manifests.some(({ file }) => file === path) && looksLikeTests(text ?? ''),
  )
  const lone = tests.filter(({ path }) => !manifests.some(({ file }) => manifestsOfTestFile(path).includes(file)))
  const ran = manifests.reduce((sum, { tests: results }) => sum + results.length, 0)
  const isUntested = ({ valid, findings }: Validated) => valid && findings.every(({ id }) => id !== 'no-tests')
  const none = options.tests !== 'off' && ran === 0 && manifests.length > 0 && manifests.every(isUntested)
  return [
    ...(manifests.length === 0 && files.every(({ text }) => text !== null)
      ? [findingAt('no-manifest', noManifest, whole)]
      : []),
    ...misnamed.map(({ path }) => findingAt('lone-test-file', misnamedTests, startOf(path))),
    ...lone.map(({ path }) => findingAt('lone-test-file', loneTests(path), startOf(path))),
    ...(none && options.filter !== undefined ? [findingAt('no-matching-test', noMatch(options.filter), whole)] : []),
    ...(none && options.filter === undefined && options.tests === 'some'
      ? [findingAt('no-tests', noTests, whole)]
      : []),
  ]
}

const noManifest = 'there is no manifest here: a manifest is a YAML file with `policies` at the top level'
const noTests = 'no manifest has a test: add `tests` to it, or a file `<manifest>.test.yaml` beside it'

function notRun(count: number): string {
  return `the ${count} tests are too many to run here: run them with \`svc test\``
}

const misnamedTests =
  'the file has tests, and its name does not end in `.test.yaml`: they never run; name it as the manifest, with `.test.yaml`'

function noMatch(filter: string): string {
  return `no test has ${quote(filter)} in its name: correct the filter`
}

function loneTests(path: string): string {
  const [manifest] = manifestsOfTestFile(path)
  return `the manifest ${quote(manifest.split('/').at(-1) ?? '')} of these tests is missing: they never run`
}

function unreadable({ path, problem }: SourceFile): Finding {
  return findingAt('unreadable-file', problem ?? 'the file cannot be read', startOf(path))
}
