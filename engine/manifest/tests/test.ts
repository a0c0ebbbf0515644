// Runs the tests of a manifest through the evaluation of the engine (docs/design/engine.md §4).
import { type Evaluation, type Manifest, parseTimestamp } from '@svc/schemas'
import { factsAsReported } from '../../agent/context.js'
import type { PolicySet } from '../../policy/compile.js'
import type { ExplainedPolicy } from '../../policy/explain.js'
import { Task } from '../../task/task.js'
import { onAgent } from '../agent/on-agent.js'
import type { ManifestTest } from '../parse/parse.js'

export interface TestResult {
  readonly name: string
  readonly passed: boolean
  /** The decision, and the violated policies in the order of the manifest. */
  readonly action: Evaluation['action']
  readonly outcome: Evaluation['outcome']
  readonly violated: readonly string[]
  /** One sentence for each expectation that was not met. */
  readonly failures: readonly string[]
  /** The answer of every policy in scope. */
  readonly policies: readonly ExplainedPolicy[]
}

/** Runs every test of the manifest, or those of a sibling file, on its policies. */
export function runTests(
  manifest: Manifest,
  tests: readonly ManifestTest[] = manifest.tests ?? [],
  setFor = setsByAgent(manifest),
): TestResult[] {
  return tests.map((test) => {
    const { action, outcome, policies } = explanationOf(setFor(test), test)
    const violated = policies.filter((policy) => policy.violated).map((policy) => policy.name)
    const failures = failuresOf(test, { action, outcome }, violated)
    return { name: test.name, passed: failures.length === 0, action, outcome, violated, failures, policies }
  })
}

/** The policies of the manifest for the agent of a test; agents that are alike share a set. */
export function setsByAgent(manifest: Manifest): (test: ManifestTest) => PolicySet {
  const sets = new Map<string, PolicySet>()
  return ({ agent = {} }) => {
    const key = JSON.stringify([agent.risk_classification, agent.agent_key])
    const set = sets.get(key) ?? onAgent(manifest, agent).set
    sets.set(key, set)
    return set
  }
}

/** The answers of a policy set to a test. */
export function explanationOf(set: PolicySet, test: ManifestTest) {
  const past = test.history ?? []
  const facts = factsAsReported(test.agent ?? {}, test.context ?? {})
  const now = parseTimestamp(test.now ?? '')
  // A test without a step evaluates the registration of its agent.
  return Task.of(set, past).explain(test.step ?? null, facts, now === null ? {} : { now })
}

function failuresOf(
  { expect }: ManifestTest,
  { action, outcome }: Pick<Evaluation, 'action' | 'outcome'>,
  violated: readonly string[],
): string[] {
  const failures: string[] = []
  if (expect.action !== undefined && expect.action !== action)
    failures.push(`expected the action ${expect.action}, got ${action}`)
  if (expect.outcome !== undefined && expect.outcome !== outcome)
    failures.push(`expected the outcome ${expect.outcome}, got ${outcome}`)
  if (expect.violated === undefined) return failures
  const missing = expect.violated.filter((name) => !violated.includes(name))
  const extra = violated.filter((name) => !expect.violated?.includes(name))
  if (missing.length > 0) failures.push(`expected to be violated, but not: ${listed(missing)}`)
  if (extra.length > 0) failures.push(`violated, but not expected: ${listed(extra)}`)
  return failures
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}
