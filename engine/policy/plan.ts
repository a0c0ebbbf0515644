// Which policies are asked on which occasion. Everything that the policies alone decide is decided here, at load: a
// decision copies the results of a passing one and asks only those that can be applicable to the step's type.
import type { PolicyResult } from '@svc/schemas'
import type { Check, Scope } from '../rules/rule.js'
import { canonicalType, type Step } from '../steps.js'
import type { PolicyInput } from './compile.js'

export interface CompiledPolicy {
  readonly policy: PolicyInput
  readonly check: Check
  /** Canonical step types outside which it is never applicable; null when it can be to any. */
  readonly types: ReadonlySet<string> | null
}

/** When policies are asked: `end` is a finished task whose last step has been judged before. */
export type Occasion = 'registration' | 'step' | 'last_step' | 'end'

const scopesAt: Readonly<Record<Occasion, readonly Scope[]>> = {
  registration: ['agent_registration'],
  step: ['step_execution'],
  // At the end of a task its whole path is judged as well as the last step itself (seed §2).
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
  /** What to ask of a step of each type that a policy names. */
  readonly by_type: ReadonlyMap<string, readonly Question[]>
  /** What to ask of any other step, and of a registration. */
  readonly of_others: readonly Question[]
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
  const types = new Set(questions.flatMap((question) => [...(question.types ?? [])]))
  const askedOf = (type: string) => questions.filter((question) => question.types === null || question.types.has(type))
  return {
    passed: Object.freeze(passed),
    by_type: new Map([...types].map((type) => [type, askedOf(type)])),
    of_others: questions.filter((question) => question.types === null),
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
