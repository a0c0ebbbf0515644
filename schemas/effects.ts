// Whether the step of a violation ran, in one word and in words for people.
import { isBlocked, type Step } from './steps.js'
import type { Incident } from './types.js'

export type Effect = Incident['effect']

/** Occurrences, or incidents, by effect. */
export type EffectCounts = Incident['effects']

/** The effect of a recorded step. */
export function effectOf(step: Step): Effect {
  return isBlocked(step) ? 'blocked' : 'executed'
}

/** From what is known of one step least to what must not be lost. */
const ranks: readonly Effect[] = ['unknown', 'blocked', 'executed']

/** The effect of one step from two sources: what ran, ran. */
export function mergedEffect(one: Effect, other: Effect): Effect {
  return ranks.indexOf(one) >= ranks.indexOf(other) ? one : other
}

export function countEffects(effects: Iterable<Effect>): EffectCounts {
  const counts = { blocked: 0, executed: 0, unknown: 0 }
  for (const effect of effects) counts[effect] += 1
  return counts
}

/** The worst of several steps: what ran, then what may have run. */
export function worstEffect({ executed, unknown }: EffectCounts): Effect {
  if (executed > 0) return 'executed'
  return unknown > 0 ? 'unknown' : 'blocked'
}

/** The parts of a sentence, worst first: `1 executed`, `3 stopped before they ran`. */
export function effectWords({ blocked, executed, unknown }: EffectCounts, shown: (count: number) => string = String) {
  const it = (count: number) => (count === 1 ? 'it' : 'they')
  return [
    ...(executed === 0 ? [] : [`${shown(executed)} executed`]),
    ...(unknown === 0 ? [] : [`${shown(unknown)} with no record of whether ${it(unknown)} ran`]),
    ...(blocked === 0 ? [] : [`${shown(blocked)} stopped before ${it(blocked)} ran`]),
  ]
}
