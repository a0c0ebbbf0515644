// The changes of parameters that make a policy stricter: a step that violated it still does. engine/impact compares by them.
import type { JsonMap } from '@svc/schemas'

/**
 * The change that is stricter. `lower`, `higher`: of a number. `fewer`, `more`: elements of a list, in any order; a single
 * value counts as a list of one. `true`: of a boolean. `wider`, `narrower`: steps that a step type, selector or filter selects.
 */
export type Order = 'lower' | 'higher' | 'fewer' | 'more' | 'true' | 'wider' | 'narrower'

/** The meaning of a parameter that is left out: everything, a value, or something that no value compares with. */
export type Absent = 'all' | 'other' | { readonly value: unknown }

export interface Ordered {
  readonly stricter: Order | 'none'
  /** By default no limit. */
  readonly absent?: Absent | ((params: JsonMap) => Absent)
  /**
   * The change can make the rule applicable, not applicable, or impossible to evaluate. Inside `any_of` and `not` such a change
   * has no direction.
   */
  readonly alone?: true
}

/** `together`: the parameters have a direction only as a whole, which the rule compares (`together` of its definition). */
export type Together = 'together'

/** INVARIANT (always true): a direction holds for every step, history and agent, whatever the other parameters are; else `none`. */
export type Direction = 'none' | 'conditions' | Together | Order | Ordered

/** The direction of each parameter of a rule. */
export type Directions<P> = { readonly [N in keyof P]-?: Direction }

/** A default of the rule. */
export function byDefault(value: unknown): Absent {
  return { value }
}

const widerTarget = { absent: 'all', alone: true } as const

/** Directions of the target filter: a wider target is stricter. `target_verb` counts as an element of `target_verbs`. */
export const targetDirections = {
  target_step_types: { stricter: 'more', ...widerTarget },
  target_verb: { stricter: 'more', ...widerTarget },
  target_verbs: { stricter: 'more', ...widerTarget },
  target_step_names: { stricter: 'more', ...widerTarget },
  target_property_filter: { stricter: 'wider', ...widerTarget },
  target_after: { stricter: 'wider', ...widerTarget },
} as const satisfies Readonly<Record<string, Direction>>

/** Those of a rule whose target means more than the steps that it applies to. */
export type TargetDirections = { readonly [N in keyof typeof targetDirections]?: Direction }

/** The verbs that a rule about writing is applicable to by default. */
export const writingVerbs = ['POST', 'PATCH', 'DELETE'] as const

/** The same for a rule that applies to writing steps by default. */
export const writingTargetDirections = {
  target_verb: { stricter: 'more', absent: byDefault(writingVerbs), alone: true },
  target_verbs: { stricter: 'more', absent: byDefault(writingVerbs), alone: true },
} as const satisfies Readonly<Record<string, Direction>>
