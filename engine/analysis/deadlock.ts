// Tells if policies about the history can ever allow a step: the least set of kinds of steps that can happen, each
// after others that can happen. A kind outside this set is proven impossible.

import { type Examined, valuesIn } from './examined.js'
import { both, either, type Formula, together } from './formula.js'
import { atLeast, type Fact, type StepFacts } from './literal.js'
import { gateFacts, typesOfKind } from './step-facts.js'

/** The requirements of the policies on a kind of step: ways in which all of them allow it. */
export type Ways = (kind: StepFacts) => Formula

const anyGate = atLeast(1, gateFacts(undefined))

/** A policy with an approval asks for a gate instead of blocking. */
function allowedBy({ region, policy }: Examined): Formula {
  const allowed = either(region.passed, region.skipped)
  return policy.approval == null ? allowed : either(allowed, together([anyGate]))
}

/** Kinds that are followed before one goal. */
const maxKinds = 60

/** The ways of a kind under some policies, each computed once. */
export function waysUnder(policies: readonly Examined[]): Ways {
  const known = new Map<string, Formula>()
  return (kind) => {
    const key = keyOf(kind)
    const found = known.get(key) ?? waysOf(kind, policies)
    known.set(key, found)
    return found
  }
}

function waysOf(kind: StepFacts, policies: readonly Examined[]): Formula {
  let ways: Formula = together(kind)
  for (const policy of policies) {
    if (canBlock(policy, kind)) ways = both(ways, allowedBy(policy))
    if (ways.length === 0) return ways
  }
  return ways
}

function canBlock({ region, names }: Examined, kind: StepFacts): boolean {
  const own = valuesIn(kind, 'step_name')
  if (names !== null && own !== null && !own.some((name) => names.has(name))) return false
  // Gates are recorded for the agent: only a policy that names them keeps them from coming.
  if (typesOfKind(kind)?.every((type) => type === 'step.gate') && !namesGates(region)) return false
  return both(together(kind), region.violated).length > 0
}

function namesGates({ violated }: Examined['region']): boolean {
  return violated.some((facts) => valuesIn(facts, 'step_type')?.includes('step.gate'))
}

/** Equal for equal kinds. */
function keyOf(kind: StepFacts): string {
  return kind.map(({ key }) => key).join()
}

/** True if a step of the kind may happen in some task, in any order of the kinds before it: false is a proof. */
function mayHappen(goal: StepFacts, ways: Ways): boolean {
  const kinds = kindsBefore(goal, ways)
  if (kinds === null) return true
  const needs = [...kinds].map(([key, kind]) => ({
    key,
    lists: ways(kind).map((facts) => facts.flatMap(requiredBefore).map(keyOf)),
  }))
  const possible = new Set<string>()
  for (let size = -1; size < possible.size; ) {
    size = possible.size
    for (const { key, lists } of needs)
      if (lists.some((before) => before.every((one) => possible.has(one)))) possible.add(key)
  }
  return possible.has(keyOf(goal))
}

/** The goal and the kinds of steps that may have to come before it, by their keys; null when they are many. */
export function kindsBefore(goal: StepFacts, ways: Ways): ReadonlyMap<string, StepFacts> | null {
  const kinds = new Map<string, StepFacts>()
  const pending: StepFacts[] = [goal]
  for (let kind = pending.pop(); kind !== undefined; kind = pending.pop()) {
    if (kinds.has(keyOf(kind))) continue
    kinds.set(keyOf(kind), kind)
    if (kinds.size > maxKinds) return null
    for (const facts of ways(kind)) pending.push(...facts.flatMap(requiredBefore))
  }
  return kinds
}

/** The kinds of steps that must have happened before. */
function requiredBefore(fact: Fact): StepFacts[] {
  if (fact.kind === 'last') return fact.negated ? [] : [fact.of]
  return fact.kind === 'count' && fact.min > 0 ? [fact.of] : []
}

/** The few of these policies that together make the goal impossible; null when it may happen. */
export function blockersOf(goal: StepFacts, policies: readonly Examined[], ways: Ways): readonly Examined[] | null {
  if (mayHappen(goal, ways)) return null
  const kinds = [...(kindsBefore(goal, ways)?.values() ?? [])]
  let core = policies.filter((policy) => kinds.some((kind) => canBlock(policy, kind)))
  for (const policy of core) {
    const fewer = core.filter((one) => one !== policy)
    if (!mayHappen(goal, waysUnder(fewer))) core = fewer
  }
  return core
}
