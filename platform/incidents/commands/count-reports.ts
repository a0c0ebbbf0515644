// Incidents that local engines report are occurrences like those that the platform finds: each is counted once, whichever
// of the two arrives first.

import { mergedEffect } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import type { Triggering } from '../actions/triggers.js'
import { findOccurrences, type NewOccurrence, type OccurrencePlace, type ReportOutcome } from '../store/occurrences.js'
import { countViolations, type FoundViolation, learnOccurrences, sameEvaluation, sameStep } from './raise-incidents.js'

export interface CountedReport {
  readonly incident_id: string
  readonly outcome: ReportOutcome
}

/**
 * The incident of each reported violation, in order. Reports with the same policy and evaluation, or without an evaluation
 * the same policy, task and step, are one occurrence and get one answer. The log must be locked.
 */
export async function countReports(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  reports: readonly FoundViolation[],
): Promise<CountedReport[]> {
  const known = await findOccurrences(scope, tx, reports)
  const learned: Learning = new Map()
  const fresh: FoundViolation[] = []
  const answers = reports.map((report): CountedReport | number => {
    const answer = joinKnown(known, learned, report)
    if (answer !== null) return answer
    const earlier =
      sameEvaluation(fresh, report) ?? (report.evaluation_id === null ? sameStep(fresh, report) : undefined)
    if (earlier === undefined) return fresh.push(report) - 1
    const at = fresh.indexOf(earlier)
    fresh[at] = { ...earlier, effect: mergedEffect(earlier.effect, report.effect) }
    return at
  })
  const pairs = [...learned].map(([after, before]) => ({ before, now: after }))
  await learnOccurrences(scope, tx, now, pairs)
  const counted = await countViolations(triggering, scope, tx, now, fresh, 'reported')
  await recordEvents(
    scope,
    tx,
    now,
    fresh.map((report, index) => reportedEvent(report, counted[index]?.incident_id ?? '')),
  )
  return answers.map((answer) => {
    if (typeof answer !== 'number') return answer
    return counted[answer] ?? { incident_id: '', outcome: 'known' }
  })
}

/** Changed occurrences, each by its state before. */
type Learning = Map<NewOccurrence, NewOccurrence>

/** The answer for an occurrence that is known, which then is also known as reported; null for a new one. */
function joinKnown(known: NewOccurrence[], learned: Learning, report: FoundViolation): CountedReport | null {
  const found = sameEvaluation(known, report) ?? sameOccurrence(known, report)
  if (found === undefined) return null
  const { incident_id, reported_as, evaluation_id } = found
  const is_repeated = reported_as !== null && (report.evaluation_id === null || report.evaluation_id === evaluation_id)
  const next = joinedWith(found, report)
  if (is_repeated && next.effect === found.effect && next.step === found.step)
    return { incident_id, outcome: reported_as }
  known[known.indexOf(found)] = next
  const before = learned.get(found) ?? found
  learned.delete(found)
  learned.set(next, before)
  return { incident_id, outcome: is_repeated ? reported_as : 'known' }
}

/** The occurrence with what the report adds; the reason of a report that a step ran takes precedence. */
function joinedWith(found: NewOccurrence, report: FoundViolation): NewOccurrence {
  const effect = mergedEffect(found.effect, report.effect)
  const reasons = [found.reported_reason, report.reported_reason ?? null]
  const [first, second] = effect === found.effect ? reasons : reasons.reverse()
  return {
    ...found,
    step: found.step ?? report.step,
    evaluation_id: found.evaluation_id ?? report.evaluation_id,
    reported_as: found.reported_as ?? 'known',
    reported_reason: first ?? second ?? null,
    effect,
  }
}

/** The occurrence at the step of the report: preferably one that no engine has reported yet. */
function sameOccurrence(known: readonly NewOccurrence[], report: OccurrencePlace): NewOccurrence | undefined {
  if (report.evaluation_id === null) return sameStep(known, report)
  const evaluated = known.filter(({ is_evaluated }) => is_evaluated)
  return (
    sameStep(
      evaluated.filter(({ reported_as }) => reported_as === null),
      report,
    ) ??
    sameStep(evaluated, report) ??
    sameStep(
      known.filter(({ evaluation_id }) => evaluation_id === null),
      report,
    )
  )
}

function reportedEvent({ policy_id, agent_id, task_id, step, evaluation_id }: FoundViolation, subject_id: string) {
  const data = { policy_id, agent_id, task_id, step, evaluation_id }
  return { kind: 'incident.reported', subject_kind: 'incident', subject_id, data }
}
