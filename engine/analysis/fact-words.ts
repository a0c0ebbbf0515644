// Facts in words, for the messages of findings.
import { quote } from '../check/quote.js'
import type { CountFact, Fact, FieldFact, HoursFact, StepFacts } from './literal.js'
import { levelPath } from './universe.js'
import type { ValueTest } from './value-test.js'

/** A few facts in words, joined. */
export function factsInWords(facts: readonly Fact[]): string {
  const words = [...new Set(facts.map(factInWords).filter((text) => text !== ''))]
  return words.slice(0, 3).join(' and ')
}

function factInWords(fact: Fact): string {
  switch (fact.kind) {
    case 'field':
      return fieldInWords(fact)
    case 'count':
      return countInWords(fact)
    case 'last':
      return `the step right before is ${fact.negated ? 'not ' : ''}${stepInWords(fact.of)}`
    case 'hours':
      return hoursInWords(fact)
    case 'hosts':
      return `${fact.negated ? 'a host' : 'each host'} in ${quote(fact.path)} is ${fact.negated ? 'not ' : ''}under ${listed(fact.allowed)}`
    case 'named':
      return ''
  }
}

function hoursInWords({ open, zone }: HoursFact): string {
  const hours = open.filter((isOpen) => isOpen).length
  return hours === 0
    ? 'the time is outside every hour of the week'
    : `the time is in ${hours} hours of the week in ${quote(zone)}`
}

function fieldInWords({ path, test, negated }: FieldFact): string {
  const name = path === levelPath ? 'the risk level of the agent' : quote(path)
  return `${name} ${testInWords(test, negated)}`
}

function testInWords(test: ValueTest, negated: boolean): string {
  switch (test.op) {
    case 'one_of':
      return oneOfInWords(test.values, negated)
    case 'present':
      return negated ? 'is missing' : 'is present'
    case 'matches':
      return `${negated ? 'does not match' : 'matches'} ${quote(test.pattern)}`
    case 'within':
      return `is ${negated ? 'not ' : ''}${rangeInWords(test.min, test.max)}`
  }
}

function oneOfInWords(values: readonly unknown[], negated: boolean): string {
  if (values.length === 2 && values.includes('') && values.includes(null)) return negated ? 'has a value' : 'is empty'
  if (values.length === 0) return negated ? 'has any value' : 'is in an empty list'
  if (values.length === 1) return `is ${negated ? 'not ' : ''}${listed(values)}`
  return `is ${negated ? 'none' : 'one'} of ${listed(values)}`
}

function rangeInWords(min: number, max: number): string {
  const parts = [
    ...(min === Number.NEGATIVE_INFINITY ? [] : [`at least ${min}`]),
    ...(max === Number.POSITIVE_INFINITY ? [] : [`at most ${max}`]),
  ]
  return parts.length === 0 ? 'a number' : parts.join(' and ')
}

function countInWords({ of, where, min, max }: CountFact): string {
  const place = where === 'run' ? 'directly before' : where === 'task' ? 'in the task' : 'earlier in the task'
  if (max === 0) return `no step is ${stepInWords(of)} ${place}`
  if (max < 0) return `fewer than no steps are ${stepInWords(of)} ${place}`
  if (max !== Number.POSITIVE_INFINITY) return `at most ${max} steps are ${stepInWords(of)} ${place}`
  return min === 1 ? `a step is ${stepInWords(of)} ${place}` : `at least ${min} steps are ${stepInWords(of)} ${place}`
}

/** A kind of step, such as `` `step.resource` named `refund` ``. */
export function stepInWords(facts: StepFacts): string {
  const of = (path: string) => facts.filter((fact) => fact.path === path && fact.test.op === 'one_of' && !fact.negated)
  const values = (path: string) => of(path).map(({ test }) => (test.op === 'one_of' ? listed(test.values) : ''))
  const heads = ['step_type', 'verb', 'step_name']
  const others = facts.filter((fact) => !heads.includes(fact.path) || !of(fact.path).includes(fact))
  const parts = [
    ...values('step_type'),
    ...values('verb'),
    ...values('step_name').map((names) => `named ${names}`),
    ...(others.length === 0 ? [] : [`with ${others.map(fieldInWords).join(' and ')}`]),
  ]
  return parts.join(' ').replace(/^with/, 'one with') || 'any step'
}

function listed(values: readonly unknown[]): string {
  const shown = values.slice(0, 4).map((value) => quote(isPlain(value) ? value : JSON.stringify(value)))
  return `${shown.join(', ')}${values.length > 4 ? ', …' : ''}`
}

/** Text that cannot be mistaken for another value. */
function isPlain(value: unknown): value is string {
  return typeof value === 'string' && !/^(true|false|null|-?[0-9.]+|)$/.test(value)
}
