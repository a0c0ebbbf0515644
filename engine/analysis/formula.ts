// Formulas over facts: any of several lists of facts that are all true. A list that cannot be true is left out, so that an
// empty formula is proven impossible. A formula may be true more often than what it describes, never less often.
import { conflictIn } from './conflict.js'
import { type Fact, isSameFact, opposite } from './literal.js'

/** Facts that are all true. */
export type Together = readonly Fact[]
export type Formula = readonly Together[]

/** True of every evaluation. */
export const always: Formula = [[]]
export const never: Formula = []

/** Longer formulas are not followed: they count as true. */
const maxLists = 300
const maxFacts = 60

/** Both are true. The second is left out where the result would be too long. */
export function both(a: Formula, b: Formula): Formula {
  if (a === always || b.length === 0) return b
  if (b === always || a.length === 0) return a
  if (a.length * b.length > maxLists * 4) return a
  const joined: Together[] = []
  for (const left of a) {
    const additions = b.map((right) => right.filter((fact) => !left.some((one) => isSameFact(one, fact))))
    // A list that already has all facts of one of the others is not narrowed by them.
    if (additions.some((added) => added.length === 0)) {
      joined.push(left)
      continue
    }
    for (const added of additions) {
      const facts = [...left, ...added]
      if (facts.length > maxFacts) return a
      if (conflictIn(facts, added) === null) joined.push(facts)
    }
  }
  return joined.length > maxLists ? a : joined
}

export function either(...formulas: readonly Formula[]): Formula {
  const lists = formulas.flat()
  return lists.some((list) => list.length === 0) || lists.length > maxLists ? always : lists
}

export function all(formulas: readonly Formula[]): Formula {
  return formulas.reduce(both, always)
}

/** Formula of facts that are all true; impossible ones are left out. */
export function together(facts: Together): Formula {
  return conflictIn(facts) === null ? (facts.length === 0 ? always : [facts]) : never
}

/** The opposite of a formula that describes exactly what it is true of. */
export function negation(formula: Formula): Formula {
  return all(formula.map((facts) => either(...facts.map((fact) => together([opposite(fact)])))))
}
