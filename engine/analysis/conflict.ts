// Finds facts that cannot all be true of one evaluation. What is not found counts as possible.
import type { CountFact, Fact, FieldFact, LastFact, StepFacts } from './literal.js'
import { conflictOfFields, isWithinKind, kindsOverlap, typesOfKind } from './step-facts.js'

/**
 * Facts that exclude each other; null when all may be true. `added`: the others are known to exclude neither each other nor,
 * among themselves, these.
 */
export function conflictIn(facts: readonly Fact[], added: readonly Fact[] = facts): readonly Fact[] | null {
  const paths = new Set(added.flatMap((fact) => (fact.kind === 'field' ? [fact.path] : [])))
  const fields = facts.filter((fact): fact is FieldFact => fact.kind === 'field')
  return (
    (paths.size > 0 ? conflictOfFields(fields, paths) : null) ??
    (added.some(({ kind }) => kind !== 'field') ? conflictOfHistory(facts) : null)
  )
}

function conflictOfHistory(facts: readonly Fact[]): readonly Fact[] | null {
  const counts = facts.filter((fact): fact is CountFact => fact.kind === 'count')
  const lasts = facts.filter((fact): fact is LastFact => fact.kind === 'last')
  const required = lasts.filter(({ negated }) => !negated)
  const lonely = [...counts.filter(({ min }) => min > 0), ...required].find(({ of }) => conflictOfFields(of) !== null)
  const empty = lonely ?? counts.find(({ min, max }) => min > max || max < 0)
  if (empty !== undefined) return [empty]
  for (const most of counts) {
    const more = counts.find((one) => one.min > most.max && isCountedBy(one, most))
    // A step directly before is in the history.
    const before = required.find(({ of }) => most.max < 1 && isCountedBy({ of, passed: true, where: 'history' }, most))
    if (more !== undefined || before !== undefined) return [(more ?? before) as Fact, most]
  }
  for (const a of required) {
    const b = lasts.find((one) => (one.negated ? isWithinKind(a.of, one.of) : !kindsOverlap(a.of, one.of)))
    if (b !== undefined) return [a, b]
  }
  return null
}

/** True if every step that the first counts is counted by the second. */
function isCountedBy(a: Pick<CountFact, 'of' | 'passed' | 'where'>, b: CountFact): boolean {
  const same_place = a.where === b.where || b.where === 'task'
  return same_place && (a.passed || !b.passed || !mayBeGate(a.of)) && isWithinKind(a.of, b.of)
}

/** Only gates can have failed. */
export function mayBeGate(kind: StepFacts): boolean {
  return typesOfKind(kind)?.includes('step.gate') ?? true
}
