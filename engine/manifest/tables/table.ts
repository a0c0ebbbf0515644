// A manifest as tables for readers who do not know YAML: what each policy checks, where, what a violation does, which tests
// show it, which agents are exempt and which controls it implements.
import type { Manifest } from '@svc/schemas'
import type { ManifestPolicy } from '../parse/parse.js'
import type { TestResult } from '../tests/test.js'
import { appliesTo, type RuleWords, ruleWords } from './rule-words.js'

/** The effect of a violation. */
export type ViolationEffect = 'blocks' | 'asks' | 'reports' | 'observes' | 'disabled'

export interface PolicyTable {
  readonly name: string
  readonly description: string | null
  readonly effect: ViolationEffect
  readonly severity: ManifestPolicy['severity']
  readonly scope: ManifestPolicy['scope']
  /** In words, with text in backticks to be set as code. */
  readonly applies_to: string
  readonly risk_classification: NonNullable<ManifestPolicy['risk_classification']> | null
  readonly approval: ManifestPolicy['approval'] | null
  readonly controls: readonly string[]
  readonly rule: readonly RuleWords[]
  /** Names of the tests that violate and that pass the policy. */
  readonly tests: { readonly violated: readonly string[]; readonly passed: readonly string[] }
}

export interface ManifestTable extends Pick<Manifest, 'name' | 'version'> {
  readonly description: string | null
  readonly tests: number
  readonly policies: readonly PolicyTable[]
  /** With their last day; whether it has passed depends on the reader's clock, not on the manifest. */
  readonly waivers: NonNullable<Manifest['waivers']>
  readonly controls: readonly { readonly control: string; readonly policies: readonly string[] }[]
}

/** The tables of a valid manifest with the results of its tests. */
export function manifestTable(manifest: Manifest, results: readonly TestResult[]): ManifestTable {
  const { name, version, description = null, policies, waivers = [] } = manifest
  const named = testsByPolicy(results)
  const rows = policies.map((policy) => policyTable(policy, named.get(policy.name) ?? { violated: [], passed: [] }))
  const controls = [...new Set(rows.flatMap((row) => row.controls))].sort().map((control) => {
    return { control, policies: rows.filter((row) => row.controls.includes(control)).map((row) => row.name) }
  })
  return { name, version, description, tests: results.length, policies: rows, waivers, controls }
}

/** The names of the tests that violate and pass each policy. */
function testsByPolicy(results: readonly TestResult[]): ReadonlyMap<string, { violated: string[]; passed: string[] }> {
  const found = new Map<string, { violated: string[]; passed: string[] }>()
  for (const { name, policies } of results) {
    for (const { name: policy, answer } of policies) {
      const tests = found.get(policy) ?? { violated: [], passed: [] }
      if (answer !== 'not_applicable') tests[answer === 'violated' ? 'violated' : 'passed'].push(name)
      found.set(policy, tests)
    }
  }
  return found
}

function policyTable(policy: ManifestPolicy, tests: PolicyTable['tests']): PolicyTable {
  const { name, description = null, severity, scope, risk_classification = null, controls = [] } = policy
  const condition = { rule_type: policy.rule_type, params: policy.params ?? {} }
  return {
    name,
    description,
    effect: effectOf(policy),
    severity,
    scope,
    applies_to: appliesTo(scope, condition),
    risk_classification,
    approval: policy.approval ?? null,
    controls,
    rule: ruleWords(condition),
    tests,
  }
}

/** A finished task cannot be blocked any more. */
function effectOf({ enabled, mode, approval, severity, scope }: ManifestPolicy): ViolationEffect {
  if (enabled === false) return 'disabled'
  if (mode === 'observe') return 'observes'
  if (severity !== 'critical' || scope === 'task_execution') return 'reports'
  return approval == null ? 'blocks' : 'asks'
}
