// From the text of a manifest to policies, with everything wrong named by line and column.

import { isDeeperThan, maxPolicyDepth } from '@svc/proof'
import type { JsonMap, Manifest } from '@svc/schemas'
import { ParameterError } from '../check/parameter-error.js'
import { bracketed, quote, quotePath } from '../check/quote.js'
import { lazyCheck, type SchemaCheck, type SchemaProblem } from '../check/schema-check.js'
import { compileRule } from '../rules/compile-rule.js'
import { depthWords } from '../rules/compound-depth.js'
import { crossCheck, type Indexed, type IndexedManifest } from './cross-check.js'
import { doubtsAbout } from './doubts.js'
import { type Position, readYaml, type YamlReading } from './read-yaml.js'
import { manifestShape, mostItems, testFileShape } from './shape.js'

export interface ManifestError {
  readonly code: 'UNREADABLE' | 'SHAPE' | 'RULE' | 'DUPLICATE_NAME' | 'UNKNOWN_POLICY'
  readonly message: string
  readonly file: string
  readonly line: number
  readonly column: number
  /** Where it stands in the document, dot-separated; empty for the document as such. */
  readonly path: string
}

/** Something that is accepted, and is hardly what its author meant. */
export interface ManifestWarning extends Omit<ManifestError, 'code'> {
  readonly code: 'UNQUOTED_VERSION' | 'UNKNOWN_STEP_TYPE' | 'UNKNOWN_VERB' | 'UNKNOWN_PROPERTY'
}

export type ManifestPolicy = Manifest['policies'][number]
export type ManifestTest = NonNullable<Manifest['tests']>[number]

export interface ManifestReading {
  /** The manifest with its sound policies only; null when the document as such cannot be used. */
  readonly value: Manifest | null
  readonly errors: readonly ManifestError[]
  /** What takes nothing away from the manifest; in the order of the text. */
  readonly warnings: readonly ManifestWarning[]
  /** Line of each sound policy, in the order of `value.policies`. */
  readonly lines: readonly number[]
}

export interface TestFileReading {
  /** The tests; null when the file has errors. */
  readonly value: readonly ManifestTest[] | null
  readonly errors: readonly ManifestError[]
}

const checkManifest = lazyCheck(manifestShape, 'yaml')
const checkTestFile = lazyCheck(testFileShape, 'yaml')

/** More than anybody mends at once; a hostile file could hold one per character. */
const mostErrors = 1000

/**
 * Reads a manifest; never throws. Any error makes it invalid as a whole, yet its sound policies are returned, for
 * those who must go on enforcing what they can.
 */
export function parseManifest(text: string, file: string): ManifestReading {
  const yaml = withVersionAsText(readYaml(text))
  const notes = newNotes(yaml, file)
  if (yaml.version_source !== null) notes.warn('UNQUOTED_VERSION', ['version'], unquoted(yaml.version_source))
  const broken = noteShape(yaml, checkManifest, notes)
  const written = yaml.value as Partial<Manifest> | null
  if (!Array.isArray(written?.policies) || tooLong(written) !== null) {
    return { value: null, errors: notes.errors(), warnings: notes.warnings(), lines: [] }
  }
  const manifest = wellShaped(written as Manifest, broken)
  const doubtful = crossCheck(manifest, namesOf(written.policies))
  for (const { code, path, message } of doubtful) notes.add(code, path, placed(path, message))
  const refused = new Set(doubtful.map(({ path }) => path.slice(0, 2).join('.')))
  const sound = manifest.policies.filter(
    ([index, policy]) => isSound(policy, index, notes) && !refused.has(`policies.${index}`),
  )
  for (const [index, { params = {} }] of sound)
    for (const doubt of doubtsAbout(params)) {
      const path = ['policies', `${index}`, 'params', ...doubt.path]
      notes.warn(doubt.code, path, `${shownPath(path)} ${doubt.says}`, doubt.at_key)
    }
  const lines = sound.map(([index]) => yaml.positionOf(['policies', `${index}`], false).line)
  const usable = !['', 'name', 'version', 'policies'].some((path) => broken.has(path))
  const value = usable ? withOnly(written as Manifest, manifest, sound) : null
  return { value, errors: notes.errors(), warnings: notes.warnings(), lines }
}

/** A version such as 1.10 is a number to YAML, which forgets its zero: its text is taken as it is written. */
function withVersionAsText(yaml: YamlReading): YamlReading & { readonly version_source: string | null } {
  const { version } = (yaml.value ?? {}) as { version?: unknown }
  const version_source = typeof version === 'number' ? yaml.plainSource('version') : null
  if (version_source === null) return { ...yaml, version_source }
  return { ...yaml, value: { ...(yaml.value as JsonMap), version: version_source }, version_source }
}

function unquoted(version: string): string {
  return `\`version\` is read as the text ${quote(version)}: write ${quote(`version: "${version}"`)}, because without quotes it is a number`
}

/** Reads a sibling `<manifest>.test.yaml` about policies of these names; never throws. */
export function parseTestFile(text: string, file: string, policy_names: Iterable<string>): TestFileReading {
  const yaml = readYaml(text)
  const notes = newNotes(yaml, file)
  noteShape(yaml, checkTestFile, notes)
  if (notes.errors().length > 0) return { value: null, errors: notes.errors() }
  const { tests } = yaml.value as { tests: ManifestTest[] }
  const alone = { policies: [], waivers: [], tests: [...tests.entries()] }
  for (const { code, path, message } of crossCheck(alone, new Set(policy_names)))
    notes.add(code, path, placed(path, message))
  return { value: notes.errors().length > 0 ? null : tests, errors: notes.errors() }
}

/** Notes what has the wrong shape; returns the members and items of the document that have. */
function noteShape(yaml: YamlReading, check: SchemaCheck, notes: Notes): ReadonlySet<string> {
  if (yaml.problems.length > 0) return new Set()
  // Every item of a list far too long would have its own errors: nobody needs them, and they cost seconds.
  const long = tooLong(yaml.value)
  const problems = long === null ? [...check(yaml.value), ...tooDeep(yaml.value)] : [long]
  for (const problem of problems) notes.add('SHAPE', problem.path, shapeMessage(problem), problem.at_key)
  return new Set(problems.map(({ path }) => path.slice(0, 2).join('.')))
}

/** The value that is wrong, by its whole path, and why. */
function shapeMessage({ path, message, sentence }: SchemaProblem): string {
  const { subject, predicate } = sentence ?? { subject: path, predicate: message }
  return subject.length === 0 ? `the file ${predicate}` : `${shownPath(subject)} ${predicate}`
}

function placed(path: readonly string[], message: string): string {
  return path.length === 0 ? message : `${shownPath(path)}: ${message}`
}

function shownPath(path: readonly string[]): string {
  return quotePath(bracketed(path.join('.')))
}

function tooLong(value: unknown): SchemaProblem | null {
  const { policies, waivers, tests } = (value ?? {}) as Partial<Record<keyof Manifest, unknown>>
  const lists = Object.entries({ policies, waivers, tests })
  const name = lists.find(([, list]) => Array.isArray(list) && list.length > mostItems)?.[0]
  if (name === undefined) return null
  return { path: [name], at_key: false, message: `must have at most ${mostItems} items: split the file` }
}

/** Members and items with more levels than a policy may have; each is rejected alone. Parameters are compiled later. */
function tooDeep(value: unknown): SchemaProblem[] {
  if (!isDeeperThan(value, maxPolicyDepth)) return []
  const parts = Object.entries((value ?? {}) as JsonMap).flatMap(([name, member]) =>
    Array.isArray(member)
      ? member.map((item: unknown, index) => ({ path: [name, `${index}`], part: withoutParams(item) }))
      : [{ path: [name], part: member }],
  )
  return parts
    .filter(({ part }) => isDeeperThan(part, maxPolicyDepth + 1))
    .map(({ path }) => ({
      path,
      at_key: false,
      message: depthWords,
      sentence: { subject: path, predicate: depthWords },
    }))
}

function withoutParams(item: unknown): unknown {
  return typeof item === 'object' && item !== null && 'params' in item ? { ...item, params: null } : item
}

/** The items that have the right shape, with their places. */
function wellShaped({ policies, waivers, tests }: Manifest, broken: ReadonlySet<string>): IndexedManifest {
  const items = <T>(name: string, list: readonly T[] = []): Indexed<T> =>
    Array.isArray(list) ? [...list.entries()].filter(([index]) => !broken.has(`${name}.${index}`)) : []
  return { policies: items('policies', policies), waivers: items('waivers', waivers), tests: items('tests', tests) }
}

function namesOf(policies: readonly unknown[]): ReadonlySet<string> {
  const names = policies.map((policy) => (policy as Partial<ManifestPolicy> | null)?.name)
  return new Set(names.filter((name) => typeof name === 'string'))
}

function withOnly(written: Manifest, { waivers, tests }: IndexedManifest, sound: Indexed<ManifestPolicy>): Manifest {
  const values = <T>(list: Indexed<T>) => list.map(([, item]) => item)
  return {
    ...written,
    policies: values(sound),
    ...(written.waivers !== undefined && { waivers: values(waivers) }),
    ...(written.tests !== undefined && { tests: values(tests) }),
  }
}

/** Compiles the policy's rule to see whether it can be. */
function isSound(policy: ManifestPolicy, index: number, notes: Notes): boolean {
  const environment = { scope: policy.scope, valid: false, track: () => () => undefined as never }
  try {
    compileRule(policy.rule_type, policy.params ?? {}, environment)
    return true
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    const own = error.path === 'rule_type' || error.path === 'scope'
    const within = ['policies', `${index}`, ...(own ? [] : ['params'])]
    const path = [...within, ...error.path.split('.').filter(Boolean)]
    const { sentence } = error
    const subject = sentence === null ? [] : [...within, ...sentence.subject.split('.').filter(Boolean)]
    const message = sentence === null ? placed(path, error.message) : `${shownPath(subject)} ${sentence.predicate}`
    notes.add('RULE', path, message, error.at_key || /\bunknown (key|parameter) /.test(error.message))
    return false
  }
}

interface Notes {
  /** In the order of the text. */
  readonly errors: () => ManifestError[]
  readonly add: (code: ManifestError['code'], path: readonly string[], message: string, at_key?: boolean) => void
  readonly warnings: () => ManifestWarning[]
  readonly warn: (code: ManifestWarning['code'], path: readonly string[], message: string, at_key?: boolean) => void
}

function newNotes(yaml: YamlReading, file: string): Notes {
  const noted: ManifestError[] = yaml.problems.map((problem) => ({ code: 'UNREADABLE', file, path: '', ...problem }))
  const doubts: ManifestWarning[] = []
  const placeOf = (path: readonly string[], at_key: boolean) => ({
    file,
    path: path.join('.'),
    ...yaml.positionOf(path, at_key),
  })
  return {
    errors: () => noted.toSorted(byPlace),
    add: (code, path, message, at_key = false) => {
      if (noted.length < mostErrors) noted.push({ code, message, ...placeOf(path, at_key) })
    },
    warnings: () => doubts.toSorted(byPlace),
    warn: (code, path, message, at_key = false) => {
      if (doubts.length < mostErrors) doubts.push({ code, message, ...placeOf(path, at_key) })
    },
  }
}

function byPlace(a: Position, b: Position): number {
  return a.line - b.line || a.column - b.column
}
