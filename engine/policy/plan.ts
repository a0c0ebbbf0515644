// The applicable policies of each occasion. Everything that depends on the policies alone is computed here, at load: a
// decision copies the results of policies that pass and evaluates only those that can be applicable to the step.
import { canonicalType, type PolicyResult, type Step, type ViolationDetails } from '@svc/schemas'
import type { CompiledTree } from '../rules/compound/tree.js'
import type { Check, Scope } from '../rules/form/rule.js'
import { isEndType } from '../rules/history/track.js'
import type { Approval } from './approval.js'
import type { PolicyInput } from './policy-input.js'

export interface CompiledPolicy extends CompiledTree {
  readonly policy: PolicyInput
  readonly approval: Approval | null
  /** Earlier steps of the task can change the answer. */
  readonly reads_history: boolean
}

/** The occasion on which policies are evaluated: `end` is a finished task whose last step was evaluated before. */
export type Occasion = 'registration' | 'step' | 'last_step' | 'end'

const scopesAt: Readonly<Record<Occasion, readonly Scope[]>> = {
  registration: ['agent_registration'],
  step: ['step_execution'],
  // The last step of a task is evaluated, and so is the whole task (docs/design/engine.md §5).
  last_step: ['step_execution', 'task_execution'],
  end: ['task_execution'],
}

/** A policy that can be applicable to a step, and the index of its result. */
export interface PlannedPolicy {
  readonly policy: PolicyInput
  readonly index: number
  readonly check: Check
  readonly approval: Approval | null
  readonly reads_history: boolean
}

interface Indexed extends CompiledPolicy {
  readonly index: number
}

export interface Plan {
  /** The results of all policies in scope when none is violated, in id order. */
  readonly passed: readonly PolicyResult[]
  /** The policies that can be applicable to the step; null: a registration. */
  readonly applicable: (step: Step | null) => readonly PlannedPolicy[]
}

export type Plans = Readonly<Record<Occasion, Plan>>

/** A task.end or a task.error. */
export function isEnd({ step_type }: Pick<Step, 'step_type'>): boolean {
  return isEndType(canonicalType(step_type))
}

/** The occasion on which an intended or logged step is evaluated, in a task that is running. */
export function occasionOf(step: Step): 'step' | 'last_step' {
  return canonicalType(step.step_type) === 'task.end' ? 'last_step' : 'step'
}

export function plansOf(policies: readonly CompiledPolicy[]): Plans {
  const results = new Map(policies.map(({ policy }) => [policy, Object.freeze(resultOf(policy, null, false))]))
  const planFor = (occasion: Occasion) => {
    const inScope = policies.filter(({ policy }) => scopesAt[occasion].includes(policy.scope))
    return planOf(
      inScope.map((compiled, index) => ({ ...compiled, index })),
      inScope.flatMap(({ policy }) => results.get(policy) ?? []),
    )
  }
  return {
    registration: planFor('registration'),
    step: planFor('step'),
    last_step: planFor('last_step'),
    end: planFor('end'),
  }
}

function planOf(indexed: readonly Indexed[], passed: readonly PolicyResult[]): Plan {
  const all = indexed.map(({ policy, index, check, approval, reads_history }) => ({
    policy,
    index,
    check,
    approval,
    reads_history,
  }))
  const find = cachedByHead(indexed)
  return { passed: Object.freeze(passed), applicable: (step) => (step === null ? all : find(step)) }
}

/** Types and names that no policy compares count as one, so that those of a hostile agent do not fill the cache. */
const maxHeads = 1000

interface Head {
  readonly step_type: string | null
  readonly verb: string | undefined
  readonly applicable: readonly PlannedPolicy[]
}

/** The policies that can be applicable, computed once for each head. */
function cachedByHead(indexed: readonly Indexed[]): (step: Step) => readonly PlannedPolicy[] {
  const words = new Set(indexed.flatMap(({ head_words }) => head_words))
  const byName = new Map<string | null, Head[]>()
  let count = 0
  return (step) => {
    const { verb } = step
    const type = canonicalType(step.step_type)
    const step_type = words.has(type) ? type : null
    const step_name = step.step_name !== undefined && words.has(step.step_name) ? step.step_name : null
    const heads = byName.get(step_name) ?? []
    for (const known of heads) if (known.step_type === step_type && known.verb === verb) return known.applicable
    const applicable = indexed.flatMap(({ policy, index, checkFor, approval, reads_history }) => {
      const check = checkFor(step)
      return check === null ? [] : [{ policy, index, check, approval, reads_history }]
    })
    if (count >= maxHeads) byName.clear()
    count = count >= maxHeads ? 1 : count + 1
    byName.set(step_name, [...(byName.get(step_name) ?? []), { step_type, verb, applicable }])
    return applicable
  }
}

/** The result of a policy; without details: of one that is not violated. */
export function resultOf(
  { id, name, severity, rule_type, mode, manifest_id }: PolicyInput,
  violation_details: ViolationDetails | null,
  waived: boolean,
): PolicyResult {
  const violated = violation_details !== null
  return { policy_id: id, name, severity, violated, violation_details, rule_type, mode, manifest_id, waived }
}
