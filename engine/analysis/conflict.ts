// Finds facts that cannot all be true of one evaluation. What is not found counts as possible.
import { isUnder } from '../rules/host.js'
import type { CountFact, Fact, HostsFact, LastFact, NamedFact, StepFacts } from './literal.js'
import { conflictOfFields, isWithinKind, kindsOverlap, typesOfKind } from './step-facts.js'

/**
 * Facts that exclude each other; null when all may be true. `added`: the others are known to exclude neither each other nor,
 * among themselves, these.
 */
export function conflictIn(facts: readonly Fact[], added: readonly Fact[] = facts): readonly Fact[] | null {
  const kinds = new Set(added.map(({ kind }) => kind))
  const paths = new Set(added.flatMap((fact) => (fact.kind === 'field' ? [fact.path] : [])))
  const has_history = kinds.has('count') || kinds.has('last') || paths.has('step_type') || paths.has('step_name')
  return (
    (paths.size > 0 ? conflictOfFields(ofKind(facts, 'field'), paths) : null) ??
    (has_history ? conflictOfHistory(facts) : null) ??
    (kinds.has('named') ? conflictOfPairs(ofKind(facts, 'named'), areOpposite) : null) ??
    (kinds.has('hosts') ? conflictOfPairs(ofKind(facts, 'hosts'), hostsConflict) : null) ??
    (kinds.has('hours') ? conflictOfHours(facts) : null)
  )
}

function ofKind<K extends Fact['kind']>(facts: readonly Fact[], kind: K): Extract<Fact, { kind: K }>[] {
  return facts.filter((fact): fact is Extract<Fact, { kind: K }> => fact.kind === kind)
}

function conflictOfPairs<F extends Fact>(facts: readonly F[], conflicts: (a: F, b: F) => boolean): [F, F] | null {
  for (const [index, a] of facts.entries())
    for (const b of facts.slice(index + 1)) if (conflicts(a, b) || conflicts(b, a)) return [a, b]
  return null
}

/** The first is true, and implies the second, which is not. */
function areOpposite(a: NamedFact, b: NamedFact): boolean {
  return (
    a.name === b.name && !a.negated && b.negated && a.bounds.every((bound, index) => bound <= (b.bounds[index] ?? 0))
  )
}

function hostsConflict(a: HostsFact, b: HostsFact): boolean {
  if (a.path !== b.path || a.negated) return false
  if (b.negated) return a.allowed.every((host) => b.allowed.some((other) => isUnder(host, other)))
  return !a.allowed.some((host) => b.allowed.some((other) => isUnder(host, other) || isUnder(other, host)))
}

function conflictOfHours(facts: readonly Fact[]): readonly Fact[] | null {
  const hours = ofKind(facts, 'hours')
  for (const { zone } of hours) {
    const own = hours.filter((other) => other.zone === zone)
    if (!own[0]?.open.some((_, hour) => own.every(({ open }) => open[hour]))) return own
  }
  return null
}

function conflictOfHistory(facts: readonly Fact[]): readonly Fact[] | null {
  if (!facts.some(({ kind }) => kind === 'count' || kind === 'last')) return null
  const lasts = ofKind(facts, 'last')
  const required = lasts.filter(({ negated }) => !negated)
  // A step directly before is in the history.
  const implied = required.map(({ of }) => ({ of, min: 1, passed: true, where: 'history' as const }))
  const counts = ofKind(facts, 'count')
  const least = [...counts, ...implied]
  const lonely = [...counts, ...required].find(
    (fact) => (fact.kind === 'last' || fact.min > 0) && conflictOfFields(fact.of) !== null,
  )
  if (lonely !== undefined) return [lonely]
  const empty = counts.find(({ min, max }) => min > max || max < 0)
  if (empty !== undefined) return [empty]
  for (const most of counts)
    for (const one of least)
      if (one.min > most.max && countsWithin(one, most)) return one === most ? [most] : [...origin(one, facts), most]
  return conflictOfPairs(lasts, lastsConflict)
}

type Least = Pick<CountFact, 'of' | 'min' | 'passed' | 'where'>

function origin(least: Least, facts: readonly Fact[]): Fact[] {
  return facts.filter((fact) => fact === least || (fact.kind === 'last' && !fact.negated && fact.of === least.of))
}

/** Whether every step that the first counts is counted by the second. */
function countsWithin(a: Least, b: Least): boolean {
  const same_place =
    a.where === b.where || (a.where === 'run' && b.where === 'history') || (a.where === 'history' && b.where === 'task')
  return same_place && (a.passed || !b.passed || !mayBeGate(a.of)) && isWithinKind(a.of, b.of)
}

function mayBeGate(kind: StepFacts): boolean {
  return typesOfKind(kind)?.includes('step.gate') ?? true
}

function lastsConflict(a: LastFact, b: LastFact): boolean {
  if (a.negated) return false
  return b.negated ? isWithinKind(a.of, b.of) : !kindsOverlap(a.of, b.of)
}
