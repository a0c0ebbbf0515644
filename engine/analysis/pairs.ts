// Findings about two policies: together they can never pass, or one makes the other superfluous.

import { riskOf } from '../agent/risk.js'
import { quote } from '../check/quote.js'
import { conflictIn } from './conflict.js'
import { type AnalysisFinding, type Examined, findingAbout, placeInWords } from './examined.js'
import { factsInWords } from './fact-words.js'
import { both, either } from './formula.js'
import { canonicalText } from './leaf.js'
import type { Fact } from './literal.js'
import { trial } from './trial.js'

/** Pairs that are compared; the pairs of a thousand policies with one subject would take minutes. */
const maxPairs = 20_000

/** `quiet`: policies with a finding of their own, which explains what pairs with them would show. */
export function findingsOfPairs(policies: readonly Examined[], quiet: ReadonlySet<Examined>): AnalysisFinding[] {
  const usable = policies
    .filter((examined) => !quiet.has(examined))
    .map((examined) => ({ examined, ...indexOf(examined) }))
  const found: AnalysisFinding[] = []
  const superfluous = new Set<Examined>()
  let left = maxPairs
  for (const [position, a] of usable.entries())
    for (const b of usable.slice(position + 1)) {
      if (!mayRelate(a, b) || --left < 0) continue
      const finding = redundancy(a.examined, b.examined, superfluous) ?? contradiction(a.examined, b.examined)
      if (finding !== null) found.push(finding)
    }
  return found
}

/** What a policy is about, to find the few pairs worth comparing. */
interface Subjects extends Pick<Examined, 'names'> {
  readonly subjects: ReadonlySet<string>
}

function indexOf({ region, policy, names }: Examined): Subjects {
  const facts = [...region.passed, ...region.violated].flat()
  return { subjects: new Set(facts.map((fact) => `${policy.scope} ${subjectOf(fact)}`)), names }
}

function subjectOf(fact: Fact): string {
  if (fact.kind === 'field') return fact.path
  if (fact.kind === 'count' || fact.kind === 'last') return 'history'
  if (fact.kind === 'hours') return fact.zone
  return fact.kind === 'hosts' ? `hosts ${fact.path}` : fact.name
}

function mayRelate(a: Subjects, b: Subjects): boolean {
  if (a.names !== null && b.names !== null && ![...a.names].some((name) => b.names?.has(name))) return false
  return [...a.subjects].some((subject) => b.subjects.has(subject))
}

/** A policy that never changes an outcome; exact duplicates of it are warnings. */
function redundancy(a: Examined, b: Examined, superfluous: Set<Examined>): AnalysisFinding | null {
  if (a.policy.scope !== b.policy.scope) return null
  const [a_covers, b_covers] = [covers(a, b), covers(b, a)]
  const [less, more] = a_covers ? [b, a] : [a, b]
  if ((!a_covers && !b_covers) || superfluous.has(less) || superfluous.has(more)) return null
  superfluous.add(less)
  const other = `${quote(more.policy.name)} (${placeInWords(more, less)})`
  if (a_covers && b_covers)
    return findingAbout('duplicate-policy', less, `it does the same as ${other}: delete one of the two`, [more])
  const message = `it never changes an outcome: each step that violates it also violates ${other}, which has at least its severity; delete it, or make it stricter`
  return findingAbout('shadowed', less, message, [more])
}

/** Whether each violation of the second policy is one of the first, with at least its effect. */
function covers(more: Examined, less: Examined): boolean {
  return (
    hasAtLeastEffect(more, less) &&
    both(less.region.violated, either(more.region.passed, more.region.skipped)).length === 0
  )
}

function hasAtLeastEffect(more: Examined, less: Examined): boolean {
  const { policy: strong } = more
  const { policy: weak } = less
  const same_approval = canonicalText(strong.approval ?? null) === canonicalText(weak.approval ?? null)
  return (
    riskOf[strong.severity] >= riskOf[weak.severity] &&
    ((strong.mode ?? 'enforce') === 'enforce' || weak.mode === 'observe') &&
    (strong.approval == null || same_approval) &&
    (!more.waived || less.waived)
  )
}

/** Each can pass where the other applies, and no step passes both. */
function contradiction(a: Examined, b: Examined): AnalysisFinding | null {
  if (a.policy.scope !== b.policy.scope || !isRequirement(a) || !isRequirement(b) || !surelyMeet(a, b)) return null
  if (both(a.region.passed, b.region.passed).length > 0) return null
  const [a_input, b_input] = [a.input, b.input]
  const passes_a = both(a.region.passed, b.region.violated)
  const passes_b = both(b.region.passed, a.region.violated)
  if (
    trial(
      [
        [a_input, 'passed'],
        [b_input, 'violated'],
      ],
      passes_a,
    ) === null
  )
    return null
  if (
    trial(
      [
        [b_input, 'passed'],
        [a_input, 'violated'],
      ],
      passes_b,
    ) === null
  )
    return null
  const other = `${quote(a.policy.name)} (${placeInWords(a, b)})`
  const message = `it and ${other} can never both pass on a step that both apply to${reasonOf(a, b)}: change one of them, or give them targets without a common step`
  return findingAbout('contradiction', b, message, [a])
}

/** What each of them needs, where one rule of each explains it. */
function reasonOf(a: Examined, b: Examined): string {
  for (const one of a.region.leaves)
    for (const other of b.region.leaves) {
      const facts = conflictIn([...one.factsFor('passed'), ...other.factsFor('passed')])
      const words = factsInWords(facts ?? [])
      if (words !== '') return `, because ${words} exclude each other`
    }
  return ''
}

/**
 * Whether one names at least what the other names of type, verb and name. That a tool of some name is of some type is a guess,
 * where one policy names the tool and the other the type.
 */
function surelyMeet(a: Examined, b: Examined): boolean {
  const [of_a, of_b] = [headsOf(a), headsOf(b)]
  return of_a.every((path) => of_b.includes(path)) || of_b.every((path) => of_a.includes(path))
}

function headsOf({ region: { passed, violated } }: Examined): string[] {
  const lists = [...passed, ...violated]
  const names = (path: string) => (fact: Fact) => fact.kind === 'field' && fact.path === path && !fact.negated
  return ['step_type', 'verb', 'step_name'].filter((path) => lists.every((facts) => facts.some(names(path))))
}

/** An approval lets a step pass all the same, and a policy that only observes is a trial. */
function isRequirement({ policy }: Examined): boolean {
  return policy.approval == null && policy.mode !== 'observe'
}
