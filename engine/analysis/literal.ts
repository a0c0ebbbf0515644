// The meaning of a rule for an evaluation, as facts that are true or false: of the step, of the agent, of the history.
import type { Condition } from './value-test.js'

/** A field of the evaluated step or of the agent. */
export interface FieldFact extends Condition {
  readonly kind: 'field'
  readonly path: string
  /** Equal for equal facts. */
  readonly key: string
}

/** Steps by their fields; all facts hold. */
export type StepFacts = readonly FieldFact[]

/** From `min` to `max` steps of the kind. `passed`: gates count only when they passed. */
export interface CountFact {
  readonly kind: 'count'
  readonly of: StepFacts
  /** In the history, or in the whole task when it has ended. */
  readonly where: 'history' | 'task'
  readonly passed: boolean
  readonly min: number
  readonly max: number
}

/** The step directly before this one is of the kind; a gate has passed. */
export interface LastFact {
  readonly kind: 'last'
  readonly of: StepFacts
  readonly negated: boolean
}

export type Fact = FieldFact | CountFact | LastFact

export function field(path: string, { test, negated }: Condition): FieldFact {
  const { lists, choices, examples, bounds, pattern, words } = test
  const key = JSON.stringify([path, negated, lists, choices ?? examples ?? bounds?.map(String) ?? pattern ?? words])
  return { kind: 'field', path, test, negated, key }
}

/** The only values that the fact allows; null when it allows others. */
export function choicesOf({ test, negated }: FieldFact): readonly unknown[] | null {
  return negated ? null : (test.choices ?? null)
}

export function isSameFact(a: Fact, b: Fact): boolean {
  if (a === b) return true
  if (a.kind === 'field') return b.kind === 'field' && a.key === b.key
  if (a.kind !== 'count' || b.kind !== 'count') return false
  const same_limits = a.min === b.min && a.max === b.max && a.where === b.where && a.passed === b.passed
  return same_limits && isSameKind(a.of, b.of)
}

export function isSameKind(a: StepFacts, b: StepFacts): boolean {
  return a.length === b.length && a.every(({ key }, index) => key === b[index]?.key)
}

/** At least `min` such steps came earlier. */
export function atLeast(min: number, of: StepFacts, passed = false, where: CountFact['where'] = 'history'): CountFact {
  return { kind: 'count', of, where, passed, min, max: Number.POSITIVE_INFINITY }
}

/** The opposite of a fact. */
export function opposite(fact: Fact): Fact {
  if (fact.kind === 'field') return field(fact.path, { test: fact.test, negated: !fact.negated })
  if (fact.kind === 'last') return { ...fact, negated: !fact.negated }
  return fact.max === Number.POSITIVE_INFINITY
    ? { ...fact, min: 0, max: fact.min - 1 }
    : { ...fact, min: fact.max + 1, max: Number.POSITIVE_INFINITY }
}
