// From the text of a manifest to policies, with everything wrong named by line and column.
import { didYouMean } from '../nearest.js'
import type { Manifest } from '@svc/schemas'
import { compileRule } from '../rules/compile-rule.js'
import { ParameterError, type Scope } from '../rules/rule.js'
import { lazyCheck } from '../schema-check.js'
import type { JsonMap } from '../steps.js'
import { readYaml, type YamlReading } from './read-yaml.js'
import { manifestShape } from './shape.js'

export interface ManifestError {
  readonly code: 'UNREADABLE' | 'SHAPE' | 'RULE' | 'DUPLICATE_NAME' | 'UNKNOWN_POLICY'
  readonly message: string
  readonly file: string
  readonly line: number
  readonly column: number
  /** Where it stands in the document, dot-separated; empty for the document as such. */
  readonly path: string
}

export type ManifestPolicy = Manifest['policies'][number]

export interface ManifestReading {
  /** The manifest with its sound policies only; null when the document as such cannot be used. */
  readonly value: Manifest | null
  readonly errors: readonly ManifestError[]
  /** Line of each sound policy, in the order of `value.policies`. */
  readonly lines: readonly number[]
}

const checkShape = lazyCheck(manifestShape)

/**
 * Reads a manifest; never throws. Any error makes it invalid as a whole, yet its sound policies are returned, for
 * those who must go on enforcing what they can.
 */
export function parseManifest(text: string, file: string): ManifestReading {
  const yaml = readYaml(text)
  const errors: ManifestError[] = yaml.problems.map((problem) => ({ code: 'UNREADABLE', file, path: '', ...problem }))
  if (yaml.value === null) return { value: null, errors, lines: [] }
  const note = noter(yaml, file, errors)
  for (const { path, at_key, message } of checkShape(yaml.value)) note('SHAPE', path, message, at_key)
  const written = yaml.value as Manifest
  const candidates = Array.isArray(written.policies) ? written.policies : null
  if (candidates === null) return { value: null, errors, lines: [] }
  const broken = new Set(errors.map((error) => error.path.split('.').slice(0, 2).join('.')))
  const sound = candidates.map((policy, index) => !broken.has(`policies.${index}`) && isSound(policy, index, note))
  noteDuplicates(candidates, note)
  noteUnknownNames(written, note)
  const policies = candidates.filter((_, index) => sound[index])
  const lines = candidates.flatMap((_, index) => (sound[index] ? [yaml.positionOf(['policies', `${index}`], false).line] : []))
  const named = typeof written.name === 'string' && typeof written.version === 'string'
  return { value: named ? { ...written, policies } : null, errors, lines }
}

type Note = (code: ManifestError['code'], path: readonly string[], message: string, at_key?: boolean) => void

function noter(yaml: YamlReading, file: string, errors: ManifestError[]): Note {
  return (code, path, message, at_key = false) => {
    errors.push({ code, message, file, path: path.join('.'), ...yaml.positionOf(path, at_key) })
  }
}

/** Compiles the policy's rule to see whether it can be. */
function isSound(policy: ManifestPolicy, index: number, note: Note): boolean {
  const environment = { scope: policy.scope as Scope, track: () => () => undefined as never }
  try {
    compileRule(policy.rule_type, (policy.params ?? {}) as JsonMap, environment)
    return true
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    const own = error.path === 'rule_type' || error.path === 'scope'
    note('RULE', ['policies', `${index}`, ...(own ? [] : ['params']), ...error.path.split('.').filter(Boolean)], error.message)
    return false
  }
}

function noteDuplicates(policies: readonly ManifestPolicy[], note: Note): void {
  const seen = new Set<string>()
  for (const [index, { name }] of policies.entries()) {
    if (typeof name !== 'string') continue
    if (seen.has(name)) note('DUPLICATE_NAME', ['policies', `${index}`, 'name'], `another policy is called \`${name}\` already`)
    seen.add(name)
  }
}

/** Waivers and tests that name a policy which is not there would silently do nothing. */
function noteUnknownNames(manifest: Manifest, note: Note): void {
  const names = new Set(manifest.policies.map((policy) => policy.name))
  const expect = (name: unknown, path: readonly string[]) => {
    if (typeof name !== 'string' || names.has(name)) return
    note('UNKNOWN_POLICY', path, `no policy is called \`${name}\`${didYouMean(name, names)}`)
  }
  for (const [index, waiver] of asList(manifest.waivers).entries()) expect(waiver.policy, ['waivers', `${index}`, 'policy'])
  for (const [index, test] of asList(manifest.tests).entries()) {
    for (const [place, name] of asList(test.expect?.violated).entries()) {
      expect(name, ['tests', `${index}`, 'expect', 'violated', `${place}`])
    }
  }
}

function asList<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : []
}
