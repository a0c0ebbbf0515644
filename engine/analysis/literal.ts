// What a rule says about an evaluation, as facts that are true or false: of the step, of the agent, of the history, of time.
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

/**
 * From `min` to `max` steps of the kind: in the history, directly before this step, or in the whole task. `passed`: gates count
 * only when they passed.
 */
export interface CountFact {
  readonly kind: 'count'
  readonly of: StepFacts
  readonly where: 'history' | 'run' | 'task'
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

/** The time is in one of the hours of the week, Monday first. */
export interface HoursFact {
  readonly kind: 'hours'
  readonly zone: string
  readonly open: readonly boolean[]
}

/** Every host in a field is allowed; negated: one is not. */
export interface HostsFact {
  readonly kind: 'hosts'
  readonly path: string
  readonly allowed: readonly string[]
  readonly negated: boolean
}

/**
 * Something that only its name identifies. It holds with some bounds when it holds with bounds that are all at most as high; a
 * fact without bounds is true or false.
 */
export interface NamedFact {
  readonly kind: 'named'
  readonly name: string
  readonly bounds: readonly number[]
  readonly negated: boolean
}

export type Fact = FieldFact | CountFact | LastFact | HoursFact | HostsFact | NamedFact

export function field(path: string, { test, negated }: Condition): FieldFact {
  const key = JSON.stringify([path, test, negated], (name, value: unknown) =>
    name === 'facts' ? undefined : typeof value === 'number' ? String(value) : value,
  )
  return { kind: 'field', path, test, negated, key }
}

export function isSameFact(a: Fact, b: Fact): boolean {
  if (a === b) return true
  if (a.kind === 'field') return b.kind === 'field' && a.key === b.key
  if (a.kind === 'named')
    return b.kind === 'named' && a.name === b.name && a.negated === b.negated && sameList(a.bounds, b.bounds)
  if (a.kind !== 'count' || b.kind !== 'count') return false
  const same_limits = a.min === b.min && a.max === b.max && a.where === b.where && a.passed === b.passed
  return same_limits && a.of.length === b.of.length && a.of.every((fact, index) => fact.key === b.of[index]?.key)
}

function sameList(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((one, index) => one === b[index])
}

export function named(name: string, bounds: readonly number[] = []): NamedFact {
  return { kind: 'named', name, bounds, negated: false }
}

/** At least `min` such steps came earlier. */
export function atLeast(min: number, of: StepFacts, passed = false, where: CountFact['where'] = 'history'): CountFact {
  return { kind: 'count', of, where, passed, min, max: Number.POSITIVE_INFINITY }
}

/** The opposite of a fact. */
export function opposite(fact: Fact): Fact {
  if (fact.kind === 'hours') return { ...fact, open: fact.open.map((isOpen) => !isOpen) }
  if (fact.kind === 'field') return field(fact.path, { test: fact.test, negated: !fact.negated })
  if (fact.kind !== 'count') return { ...fact, negated: !fact.negated }
  return fact.max === Number.POSITIVE_INFINITY
    ? { ...fact, min: 0, max: fact.min - 1 }
    : { ...fact, min: fact.max + 1, max: Number.POSITIVE_INFINITY }
}
