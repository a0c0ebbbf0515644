// Coverage of the tests of a manifest: each policy, and each condition of a compound policy, violated once and passed once.
import type { JsonMap, Manifest } from '@svc/schemas'
import type { ExplainedPolicy } from '../../policy/explain.js'
import { isCombinator, postOrder } from '../../rules/compound/compound.js'
import type { ManifestPolicy, ManifestTest } from '../parse/parse.js'
import { explanationOf, setsByAgent } from './test.js'

/** Numbers of tests that violated and passed a policy or a condition, or to which it was not applicable. */
export interface Tally {
  readonly violated: number
  readonly passed: number
  readonly not_applicable: number
}

export interface PolicyCoverage extends Tally {
  readonly name: string
  /** The conditions of a compound policy. */
  readonly branches: readonly BranchCoverage[]
}

export interface BranchCoverage extends Tally {
  /** Path below `params`, such as `conditions.0`. */
  readonly path: string
  readonly rule_type: string
}

/** Sides are violated and passed: a policy has two, and each of its conditions has two. */
export interface Coverage {
  readonly sides: number
  readonly covered: number
  readonly policies: readonly PolicyCoverage[]
}

/** Evaluates the tests on the policies and, beside them, on each condition as a policy of its own. */
export function coverageOf(manifest: Manifest, tests: readonly ManifestTest[]): Coverage {
  const enforced = manifest.policies.filter(({ enabled }) => enabled !== false)
  const parts = enforced.map((policy) => ({ policy, branches: branchesOf(policy) }))
  const counts = countsOf(
    { ...manifest, waivers: [], policies: parts.flatMap(({ policy, branches }) => [policy, ...branches]) },
    tests,
  )
  const policies = parts.map(({ policy, branches }): PolicyCoverage => {
    const own = branches.map((branch) => {
      return { path: pathOf(branch), rule_type: branch.rule_type, ...tallyOf(counts, branch.name) }
    })
    return { name: policy.name, ...tallyOf(counts, policy.name), branches: own }
  })
  const tallies = policies.flatMap((policy) => [policy, ...policy.branches])
  const covered = tallies.reduce((sum, { violated, passed }) => sum + Number(violated > 0) + Number(passed > 0), 0)
  return { sides: 2 * tallies.length, covered, policies }
}

type Counts = ReadonlyMap<string, Readonly<Record<ExplainedPolicy['answer'], number>>>

function countsOf(manifest: Manifest, tests: readonly ManifestTest[]): Counts {
  const setFor = setsByAgent(manifest)
  const counts = new Map<string, Record<ExplainedPolicy['answer'], number>>()
  for (const test of tests) {
    for (const { name, answer } of explanationOf(setFor(test), test).policies) {
      const count = counts.get(name) ?? { violated: 0, passed: 0, approved: 0, not_applicable: 0 }
      count[answer]++
      counts.set(name, count)
    }
  }
  return counts
}

function tallyOf(counts: Counts, name: string): Tally {
  const { violated = 0, passed = 0, approved = 0, not_applicable = 0 } = counts.get(name) ?? {}
  return { violated, passed: passed + approved, not_applicable }
}

/** The leaves of a compound policy as policies; no name of an author contains the separator. */
const separator = '\0'

function branchesOf(policy: ManifestPolicy): ManifestPolicy[] {
  const { approval: _, ...rest } = policy
  if (!isCombinator(policy.rule_type)) return []
  return postOrder({ rule_type: policy.rule_type, params: policy.params ?? {} })
    .filter(({ node }) => !isCombinator(node.rule_type))
    .map(({ node, path }) => {
      const params: JsonMap = node.params ?? {}
      return {
        ...rest,
        name: `${policy.name}${separator}${path}`,
        rule_type: node.rule_type as ManifestPolicy['rule_type'],
        params,
      }
    })
}

function pathOf({ name }: ManifestPolicy): string {
  return name.slice(name.indexOf(separator) + 1)
}
