// Findings about two policies: together they can never pass, or one makes the other superfluous.
import { quote } from '../check/quote.js'
import { diffPolicy, effectOn } from '../impact/diff/policy.js'
import { conflictIn } from './conflict.js'
import { type AnalysisFinding, type Examined, findingAbout, placeInWords, valuesIn } from './examined.js'
import { factsInWords } from './fact-words.js'
import { both } from './formula.js'

/** Pairs that are compared; the pairs of a thousand policies with one subject would take minutes. */
const maxPairs = 20_000

/** `quiet`: policies with a finding of their own, which explains what pairs with them would show. */
export function findingsOfPairs(policies: readonly Examined[], quiet: ReadonlySet<Examined>): AnalysisFinding[] {
  const usable = policies.filter((examined) => !quiet.has(examined))
  const found: AnalysisFinding[] = []
  const superfluous = new Set<Examined>()
  let left = maxPairs
  for (const [position, a] of usable.entries())
    for (const b of usable.slice(position + 1)) {
      if (!mayMeet(a, b) || --left < 0) continue
      const finding = redundancy(a, b, superfluous) ?? contradiction(a, b)
      if (finding !== null) found.push(finding)
    }
  return found
}

function mayMeet(a: Examined, b: Examined): boolean {
  const is_apart = a.names !== null && b.names !== null && ![...a.names].some((name) => b.names?.has(name))
  return a.policy.scope === b.policy.scope && !is_apart
}

/** A policy that never changes an outcome, by the directions that `svc diff` compares with; duplicates are warnings. */
function redundancy(a: Examined, b: Examined, superfluous: Set<Examined>): AnalysisFinding | null {
  const effect = effectOn(a.policy, b.policy, diffPolicy(a.policy, b.policy))
  const [less, more] = effect === 'stricter' ? [a, b] : [b, a]
  if (effect === 'changed' || superfluous.has(less) || superfluous.has(more)) return null
  if (more.waived && !less.waived) return null
  superfluous.add(less)
  const other = `${quote(more.policy.name)} (${placeInWords(more, less)})`
  if (effect === 'none')
    return findingAbout('duplicate-policy', less, `it does the same as ${other}: delete one of the two`, [more])
  const message = `it never changes an outcome: each step that violates it also violates ${other}, which has at least its severity; delete it, or make it stricter`
  return findingAbout('shadowed', less, message, [more])
}

/** Each can pass where the other applies, and no step passes both. */
function contradiction(a: Examined, b: Examined): AnalysisFinding | null {
  if (!isRequirement(a) || !isRequirement(b) || !surelyMeet(a, b)) return null
  const [of_a, of_b] = [a.region, b.region]
  if (both(of_a.passed, of_b.passed).length > 0) return null
  if (both(of_a.passed, of_b.violated).length === 0 || both(of_b.passed, of_a.violated).length === 0) return null
  const words = factsInWords(conflictIn([...of_a.passed.slice(0, 1), ...of_b.passed.slice(0, 1)].flat()) ?? [])
  const reason =
    words === '' || of_a.passed.length + of_b.passed.length > 2 ? '' : `, because ${words} exclude each other`
  const other = `${quote(a.policy.name)} (${placeInWords(a, b)})`
  const message = `it and ${other} can never both pass on a step that both apply to${reason}: change one of them, or give them targets without a common step`
  return findingAbout('contradiction', b, message, [a])
}

/**
 * True if one names at least what the other names of type, verb and name. That a tool of some name is of some type is a guess,
 * where one policy names the tool and the other the type.
 */
function surelyMeet(a: Examined, b: Examined): boolean {
  const [of_a, of_b] = [headsOf(a), headsOf(b)]
  return of_a.every((path) => of_b.includes(path)) || of_b.every((path) => of_a.includes(path))
}

function headsOf({ region: { passed, violated } }: Examined): string[] {
  const lists = [...passed, ...violated]
  return ['step_type', 'verb', 'step_name'].filter((path) => lists.every((facts) => valuesIn(facts, path) !== null))
}

/** An approval lets a step pass anyway, and a policy that only observes is a trial. */
function isRequirement({ policy }: Examined): boolean {
  return policy.approval == null && policy.mode !== 'observe'
}
