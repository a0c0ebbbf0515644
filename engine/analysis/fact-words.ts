// Facts in words, for the messages of findings.
import { quote, tidy } from '../check/quote.js'

import { type CountFact, choicesOf, type Fact, type FieldFact, type StepFacts } from './literal.js'
import { levelPath } from './universe.js'
import { listed } from './value-test.js'

/** A few facts in words, joined. */
export function factsInWords(facts: readonly Fact[]): string {
  return [...new Set(facts.map(factInWords))].slice(0, 3).join(' and ')
}

function factInWords(fact: Fact): string {
  if (fact.kind === 'field') return fieldInWords(fact)
  if (fact.kind === 'count') return countInWords(fact)
  return `the step right before is ${fact.negated ? 'not ' : ''}${stepInWords(fact.of)}`
}

function fieldInWords({ path, test: { words }, negated }: FieldFact): string {
  const name = path === levelPath ? 'the risk level of the agent' : path.includes('`') ? tidy(path) : quote(path)
  return `${name} ${words[negated ? 1 : 0]}`
}

function countInWords({ of, where, min, max }: CountFact): string {
  const place = where === 'task' ? 'in the task' : 'earlier in the task'
  if (max <= 0) return `${max === 0 ? 'no step is' : 'fewer than no steps are'} ${stepInWords(of)} ${place}`
  if (max !== Number.POSITIVE_INFINITY) return `at most ${max} steps are ${stepInWords(of)} ${place}`
  return min === 1 ? `a step is ${stepInWords(of)} ${place}` : `at least ${min} steps are ${stepInWords(of)} ${place}`
}

/** A kind of step, such as `` `step.resource` named `refund` ``. */
export function stepInWords(facts: StepFacts): string {
  const heads = ['step_type', 'verb', 'step_name']
  const isHead = (fact: FieldFact) => heads.includes(fact.path) && choicesOf(fact) !== null
  const others = facts.filter((fact) => !isHead(fact))
  const parts = heads.flatMap((head) =>
    facts.flatMap((fact) => {
      const choices = fact.path === head ? choicesOf(fact) : null
      return choices === null ? [] : [`${head === 'step_name' ? 'named ' : ''}${listed(choices)}`]
    }),
  )
  const rest = others.length === 0 ? [] : [`with ${others.map(fieldInWords).join(' and ')}`]
  return [...parts, ...rest].join(' ').replace(/^with/, 'one with') || 'any step'
}
