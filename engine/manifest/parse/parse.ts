// From the text of a manifest to policies; each error has a line and a column.

import { isDeeperThan, maxPolicyDepth } from '@svc/proof'
import type { JsonMap, Manifest } from '@svc/schemas'
import { ParameterError, type ParameterFault } from '../../check/parameter-error.js'
import { bracketed, quote, quotePath } from '../../check/quote.js'
import { lazyCheck, type SchemaCheck, type SchemaProblem } from '../../check/schema-check.js'
import type { Finding } from '../../findings/finding.js'
import type { FindingId } from '../../findings/kinds.js'
import { compileApproval } from '../../policy/approval.js'
import { compileRule } from '../../rules/compile-rule.js'
import { depthWords } from '../../rules/compound/depth.js'
import { newReadings } from '../../rules/form/readings.js'
import { readYaml, type YamlReading } from '../yaml/read-yaml.js'
import { crossCheck, type Indexed, type IndexedManifest } from './cross-check.js'
import { type Notes, newNotes } from './notes.js'
import { manifestShape, maxItems, testFileShape } from './shape.js'
import { type UnknownWord, unknownWordsIn, unknownWordsInTest } from './unknown-words.js'
import { untargetedIn } from './untargeted.js'

export type ManifestPolicy = Manifest['policies'][number]
export type ManifestTest = NonNullable<Manifest['tests']>[number]

export interface ManifestReading {
  /** The manifest with its valid policies only; null when the document cannot be used. */
  readonly value: Manifest | null
  readonly errors: readonly Finding[]
  /** In the order of the text; a warning rejects nothing. */
  readonly warnings: readonly Finding[]
  /** Line of each valid policy, in the order of `value.policies`. */
  readonly lines: readonly number[]
  /** Position of the value at a path of the document, or of its name. */
  readonly positionOf: YamlReading['positionOf']
}

export interface TestFileReading {
  /** The tests; null when the file has errors. */
  readonly value: readonly ManifestTest[] | null
  readonly errors: readonly Finding[]
  readonly warnings: readonly Finding[]
  readonly positionOf: YamlReading['positionOf']
}

const checkManifest = lazyCheck(manifestShape, 'yaml')
const checkTestFile = lazyCheck(testFileShape, 'yaml')

/**
 * Reads a manifest; never throws. Any error makes the manifest invalid; its valid policies are returned anyway, for
 * callers that enforce as much as possible. Warnings also name steps of `tests_beside`, the tests of a file beside it.
 */
export function parseManifest(text: string, file: string, tests_beside: readonly ManifestTest[] = []): ManifestReading {
  const yaml = withVersionAsText(readYaml(text))
  const { positionOf } = yaml
  const notes = newNotes(yaml, file)
  if (yaml.version_source !== null) notes.add('unquoted-version', ['version'], unquoted(yaml.version_source))
  const broken = noteShape(yaml, checkManifest, notes)
  const written = yaml.value as Partial<Manifest> | null
  if (!Array.isArray(written?.policies) || tooLong(written) !== null)
    return { value: null, ...notes.found(), lines: [], positionOf }
  const manifest = wellShaped(written as Manifest, broken)
  const crossProblems = crossCheck(manifest, namesOf(written.policies))
  for (const { id, path, message } of crossProblems) notes.add(id, path, withPath(path, message))
  const rejected = new Set(crossProblems.map(({ path }) => path.slice(0, 2).join('.')))
  const valid = manifest.policies.filter(
    ([index, policy]) => isValid(policy, index, notes) && !rejected.has(`policies.${index}`),
  )
  for (const [index, { params = {}, scope }] of valid)
    noteWords(unknownWordsIn(params, scope), ['policies', `${index}`, 'params'], notes)
  noteTestWords(manifest.tests, notes)
  noteUntargeted(valid, [...manifest.tests.map(([, test]) => test), ...tests_beside], notes)
  const lines = valid.map(([index]) => positionOf(['policies', `${index}`], false).line)
  const usable = hasHead(written) && !['', 'name', 'version', 'policies'].some((path) => broken.has(path))
  const value = usable ? withOnly(written as Manifest, manifest, valid) : null
  return { value, ...notes.found(), lines, positionOf }
}

/** A misspelt `name` or `version` is an unknown key, and leaves the required one missing. */
function hasHead({ name, version }: Partial<Manifest>): boolean {
  return typeof name === 'string' && typeof version === 'string'
}

function noteWords(words: readonly UnknownWord[], within: readonly string[], notes: Notes): void {
  for (const word of words) {
    const path = [...within, ...word.path]
    notes.add(word.id, path, `${shownPath(path)} ${word.predicate}`, word.at_key)
  }
}

function noteTestWords(tests: Indexed<ManifestTest>, notes: Notes): void {
  for (const [index, test] of tests) noteWords(unknownWordsInTest(test), ['tests', `${index}`], notes)
}

function noteUntargeted(policies: Indexed<ManifestPolicy>, tests: readonly ManifestTest[], notes: Notes): void {
  for (const [index, policy] of policies) {
    const found = untargetedIn(policy, tests)
    if (found === null) continue
    const path = ['policies', `${index}`, ...found.path]
    notes.add('no-target', path, `${shownPath(path)} ${found.predicate}`)
  }
}

/** Takes an unquoted version as it is written: YAML reads 1.10 as a number, without its zero. */
function withVersionAsText(yaml: YamlReading): YamlReading & { readonly version_source: string | null } {
  const { version } = (yaml.value ?? {}) as { version?: unknown }
  const version_source = typeof version === 'number' ? yaml.plainSource('version') : null
  if (version_source === null) return { ...yaml, version_source }
  return { ...yaml, value: { ...(yaml.value as JsonMap), version: version_source }, version_source }
}

function unquoted(version: string): string {
  return `\`version\` is read as the text ${quote(version)}: write ${quote(`version: "${version}"`)}, because without quotes it is a number`
}

/** Reads a sibling `<manifest>.test.yaml` for policies of these names; never throws. */
export function parseTestFile(text: string, file: string, policy_names: Iterable<string>): TestFileReading {
  const yaml = readYaml(text)
  const notes = newNotes(yaml, file)
  noteShape(yaml, checkTestFile, notes)
  const { positionOf } = yaml
  if (notes.hasErrors()) return { value: null, ...notes.found(), positionOf }
  const { tests } = yaml.value as { tests: ManifestTest[] }
  const alone = { policies: [], waivers: [], tests: [...tests.entries()] }
  for (const { id, path, message } of crossCheck(alone, new Set(policy_names)))
    notes.add(id, path, withPath(path, message))
  noteTestWords(alone.tests, notes)
  return { value: notes.hasErrors() ? null : tests, ...notes.found(), positionOf }
}

/** Notes shape errors; returns the paths of the invalid members and items. */
function noteShape(yaml: YamlReading, check: SchemaCheck, notes: Notes): ReadonlySet<string> {
  if (yaml.problems.length > 0) return new Set()
  // Checking every item of a list that is too long would take seconds.
  const long = tooLong(yaml.value)
  const problems: readonly ShapeProblem[] = long === null ? [...check(yaml.value), ...tooDeep(yaml.value)] : [long]
  for (const problem of problems)
    notes.add(problem.id ?? idOf[problem.fault ?? 'value'], problem.path, shapeMessage(problem), problem.at_key)
  return new Set(problems.map(({ path }) => path.slice(0, 2).join('.')))
}

/** The whole path of the invalid value, and the problem. */
function shapeMessage({ path, message, sentence }: SchemaProblem): string {
  const { subject, predicate } = sentence ?? { subject: path, predicate: message }
  return subject.length === 0 ? `the file ${predicate}` : `${shownPath(subject)} ${predicate}`
}

function withPath(path: readonly string[], message: string): string {
  return path.length === 0 ? message : `${shownPath(path)}: ${message}`
}

function shownPath(path: readonly string[]): string {
  return quotePath(bracketed(path.join('.')))
}

/** A problem of the shape; with an id where the limits of a file cause it. */
interface ShapeProblem extends SchemaProblem {
  readonly id?: FindingId
}

const idOf: Readonly<Record<ParameterFault, FindingId>> = {
  missing: 'missing-key',
  unknown: 'unknown-key',
  type: 'wrong-type',
  value: 'wrong-value',
  rule: 'unknown-rule',
  scope: 'wrong-scope',
  pattern: 'bad-pattern',
  depth: 'over-limit',
}

function tooLong(value: unknown): ShapeProblem | null {
  const { policies, waivers, tests } = (value ?? {}) as Partial<Record<keyof Manifest, unknown>>
  const lists = Object.entries({ policies, waivers, tests })
  const name = lists.find(([, list]) => Array.isArray(list) && list.length > maxItems)?.[0]
  if (name === undefined) return null
  return {
    id: 'over-limit',
    fault: 'value',
    path: [name],
    at_key: false,
    message: `must have at most ${maxItems} items: split the file`,
  }
}

/** Members and items with more levels than a policy may have; each is rejected alone. Parameters are compiled later. */
function tooDeep(value: unknown): ShapeProblem[] {
  if (!isDeeperThan(value, maxPolicyDepth)) return []
  const parts = Object.entries((value ?? {}) as JsonMap).flatMap(([name, member]) =>
    Array.isArray(member)
      ? member.map((item: unknown, index) => ({ path: [name, `${index}`], part: withoutParams(item) }))
      : [{ path: [name], part: member }],
  )
  return parts
    .filter(({ part }) => isDeeperThan(part, maxPolicyDepth + 1))
    .map(({ path }) => ({
      id: 'over-limit' as const,
      fault: 'value' as const,
      path,
      at_key: false,
      message: depthWords,
      sentence: { subject: path, predicate: depthWords },
    }))
}

function withoutParams(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'params' in item ? { ...item, params: null } : item
}

/** The items with a valid shape, with their indexes. */
function wellShaped({ policies, waivers, tests }: Manifest, broken: ReadonlySet<string>): IndexedManifest {
  const items = <T>(name: string, list: readonly T[] = []): Indexed<T> =>
    Array.isArray(list) ? [...list.entries()].filter(([index]) => !broken.has(`${name}.${index}`)) : []
  return { policies: items('policies', policies), waivers: items('waivers', waivers), tests: items('tests', tests) }
}

function namesOf(policies: readonly unknown[]): ReadonlySet<string> {
  const names = policies.map((policy) => (policy as Partial<ManifestPolicy> | null)?.name)
  return new Set(names.filter((name) => typeof name === 'string'))
}

function withOnly(written: Manifest, { waivers, tests }: IndexedManifest, valid: Indexed<ManifestPolicy>): Manifest {
  const values = <T>(list: Indexed<T>) => list.map(([, item]) => item)
  return {
    ...written,
    policies: values(valid),
    ...(written.waivers !== undefined && { waivers: values(waivers) }),
    ...(written.tests !== undefined && { tests: values(tests) }),
  }
}

/** Compiles the rule and the approval of the policy, and notes the error. */
function isValid(policy: ManifestPolicy, index: number, notes: Notes): boolean {
  const track = () => Object.assign(() => undefined as never, { slot: 0 })
  const environment = { scope: policy.scope, valid: false, blocks: false, track, readings: newReadings() }
  try {
    compileRule(policy.rule_type, policy.params ?? {}, environment)
    compileApproval({ ...policy, id: index }, environment)
    return true
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    for (const each of [error, ...error.others]) noteParameter(each, index, notes)
    return false
  }
}

function noteParameter(error: ParameterError, index: number, notes: Notes): void {
  const ofPolicy = /^(rule_type|scope|approval(\..*)?)$/.test(error.path)
  const within = ['policies', `${index}`, ...(ofPolicy ? [] : ['params'])]
  const path = [...within, ...error.path.split('.').filter(Boolean)]
  const { sentence } = error
  const subject = sentence === null ? [] : [...within, ...sentence.subject.split('.').filter(Boolean)]
  const message = sentence === null ? withPath(path, error.message) : `${shownPath(subject)} ${sentence.predicate}`
  notes.add(idOf[error.fault], path, message, error.at_key)
}
