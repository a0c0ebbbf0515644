// Whether a kind of step can come at all, in view of the order of the kinds before it: a search of all sets of kinds that a
// task can have had. What a policy asks beyond that is left out, so that "unreachable" is a proof.
import { mayBeGate } from './conflict.js'
import type { Formula } from './formula.js'
import { type Fact, isSameKind, type StepFacts } from './literal.js'
import { isWithinKind, kindsOverlap } from './step-facts.js'

/** A way in which the policies allow a kind, as sets of kinds, one bit for each. */
interface Order {
  /** The kinds that have come before. */
  readonly needs: number
  /** The kinds of which none has come before. */
  readonly bans: number
}

/** `orders`: the ways of each kind. The goal is the first kind. */
export function isReachable(kinds: readonly StepFacts[], orders: readonly Formula[]): boolean {
  const ways = orders.map((formula) => formula.map((facts) => orderOf(facts, kinds)))
  const together = kinds.map((kind) => maskOf(kinds, (other) => kindsOverlap(kind, other)))
  const known = new Set([0])
  for (const before of known) {
    const allowed = maskOf(ways, (own) =>
      own.some(({ needs, bans }) => (needs & ~before) === 0 && (bans & before) === 0),
    )
    if (allowed & 1) return true
    // One step may be of several kinds.
    for (const added of overlapping(allowed & ~before, together)) known.add(before | added)
  }
  return false
}

function maskOf<T>(list: readonly T[], isIn: (one: T) => boolean): number {
  return list.reduce((mask, one, index) => (isIn(one) ? mask | (1 << index) : mask), 0)
}

function orderOf(facts: readonly Fact[], kinds: readonly StepFacts[]): Order {
  let [needs, bans] = [0, 0]
  for (const fact of facts) {
    const before = fact.kind === 'last' ? !fact.negated && fact.of : fact.kind === 'count' && fact.min > 0 && fact.of
    if (before) needs |= maskOf(kinds, (kind) => isSameKind(kind, before))
    if (fact.kind === 'count' && fact.max === 0 && !(fact.passed && mayBeGate(fact.of)))
      bans |= maskOf(kinds, (kind) => isWithinKind(kind, fact.of))
  }
  return { needs, bans }
}

/** Every set of kinds among these of which one step can be. */
function overlapping(allowed: number, together: readonly number[]): readonly number[] {
  let sets: number[] = []
  for (const [index, others] of together.entries()) {
    const own = 1 << index
    if ((allowed & own) === 0) continue
    const joined = sets.filter((set) => (set & ~others) === 0).map((set) => set | own)
    sets = [...sets, ...joined, own]
  }
  return sets
}
