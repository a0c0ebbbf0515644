// When a rule that is not a combinator passes and when it is violated, as formulas.
import type { JsonMap } from '@svc/schemas'
import { type Formula, together } from './formula.js'
import { type Fact, named, opposite } from './literal.js'

export interface LeafFormulas {
  /** Besides the target; exact. */
  readonly applies?: Formula
  /** Where it applies. */
  readonly passes: Formula
  /** Where it applies. */
  readonly fails: Formula
  /** What is true when it passes and when it is violated, to explain why it cannot. */
  readonly when_passed?: readonly Fact[]
  readonly when_violated?: readonly Fact[]
  /** Why an answer is impossible, where no fact says it. */
  readonly note?: string
  /** The rule exists to forbid steps: that none passes is what the author wants. */
  readonly forbids?: boolean
}

/** The formulas of a rule with its parameters, which are valid. */
export type Describe = (params: JsonMap, at_registration: boolean) => LeafFormulas

/** A rule whose answer follows from one fact. */
export function byFact(fact: Fact, ...with_pass: readonly Fact[]): LeafFormulas {
  return described([fact, ...with_pass], [opposite(fact)])
}

function described(when_passed: readonly Fact[], when_violated: readonly Fact[]): LeafFormulas {
  return { passes: together(when_passed), fails: together(when_violated), when_passed, when_violated }
}

/** A rule of which only the name and the parameters are compared. */
export function byName(rule_type: string, params: JsonMap): LeafFormulas {
  return byFact(named(`${rule_type} ${canonicalText(params)}`))
}

/** The same with what else is true when it passes and when it fails. */
export function byNameWith(
  name: string,
  { bounds = [], pass = [], fail = [] }: { bounds?: readonly number[]; pass?: readonly Fact[]; fail?: readonly Fact[] },
): LeafFormulas {
  const fact = named(name, bounds)
  return described([fact, ...pass], [opposite(fact), ...fail])
}

/** JSON with sorted keys: equal for equal values. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}
