// Which policies are asked on which occasion. Everything that the policies alone decide is decided here, at load: a
// decision copies the results of a passing one and asks only those that can be applicable to the step's type.
import { canonicalType, type PolicyResult, type Step } from '@svc/schemas'
import type { CompiledRule } from '../rules/compile-rule.js'
import type { Scope } from '../rules/rule.js'
import type { PolicyInput } from './policy-input.js'

export interface CompiledPolicy extends CompiledRule {
  readonly policy: PolicyInput
}

/** When policies are asked: `end` is a finished task whose last step has been judged before. */
export type Occasion = 'registration' | 'step' | 'last_step' | 'end'

const scopesAt: Readonly<Record<Occasion, readonly Scope[]>> = {
  registration: ['agent_registration'],
  step: ['step_execution'],
  // At the end of a task its whole path is judged as well as the last step itself (docs/design/engine.md §5).
  last_step: ['step_execution', 'task_execution'],
  end: ['task_execution'],
}

/** A policy and where its result stands. */
export interface Question extends CompiledPolicy {
  readonly index: number
}

export interface Plan {
  /** The results of all policies in scope when none is violated, in id order. */
  readonly passed: readonly PolicyResult[]
  /** What to ask of the step; null for a registration. */
  readonly asked: (step: Step | null) => readonly Question[]
}

export type Plans = Readonly<Record<Occasion, Plan>>

/** The occasion on which an intended or logged step is judged. */
export function occasionOf(step: Step): 'step' | 'last_step' {
  return canonicalType(step.step_type) === 'task.end' ? 'last_step' : 'step'
}

export function plansOf(policies: readonly CompiledPolicy[]): Plans {
  const results = new Map(policies.map(({ policy }) => [policy, Object.freeze(resultOf(policy, false))]))
  const planFor = (occasion: Occasion) => {
    const asked = policies.filter(({ policy }) => scopesAt[occasion].includes(policy.scope))
    return planOf(
      asked.map((compiled, index) => ({ ...compiled, index })),
      asked.flatMap(({ policy }) => results.get(policy) ?? []),
    )
  }
  return {
    registration: planFor('registration'),
    step: planFor('step'),
    last_step: planFor('last_step'),
    end: planFor('end'),
  }
}

function planOf(questions: readonly Question[], passed: readonly PolicyResult[]): Plan {
  const of_any = questions.filter(({ head }) => head === null)
  const find = of_any.length === questions.length ? () => questions : remembered(questions)
  return { passed: Object.freeze(passed), asked: (step) => (step === null ? of_any : find(step)) }
}

/** Steps of an agent have few types, verbs and names, and these come again; a stranger's may all differ. */
const mostRemembered = 1000

interface Head {
  readonly step_type: string
  readonly verb: string | undefined
  readonly asked: readonly Question[]
}

/** What can be applicable, found once for each head. */
function remembered(questions: readonly Question[]): (step: Step) => readonly Question[] {
  const by_name = new Map<string | undefined, Head[]>()
  let count = 0
  return (step) => {
    const { step_type, verb, step_name } = step
    const heads = by_name.get(step_name) ?? []
    for (const known of heads) if (known.step_type === step_type && known.verb === verb) return known.asked
    const asked = questions.filter(({ head }) => head === null || head(step))
    if (count >= mostRemembered) by_name.clear()
    count = count >= mostRemembered ? 1 : count + 1
    by_name.set(step_name, [...(by_name.get(step_name) ?? []), { step_type, verb, asked }])
    return asked
  }
}

/** A result without details: what a policy that passes reports. */
export function resultOf(policy: PolicyInput, violated: boolean): PolicyResult {
  const { id, name, severity, rule_type, mode, manifest_id } = policy
  return {
    policy_id: id,
    name,
    severity,
    violated,
    violation_details: null,
    rule_type,
    mode,
    manifest_id,
    waived: false,
  }
}
