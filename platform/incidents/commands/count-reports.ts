// Incidents that local engines report are occurrences like those that the platform finds: each is counted once, whichever
// of the two arrives first.

import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import type { Triggering } from '../actions/triggers.js'
import {
  findOccurrences,
  type NewOccurrence,
  type OccurrencePlace,
  type ReportOutcome,
  updateOccurrences,
} from '../store/occurrences.js'
import { countViolations, type FoundViolation, sameEvaluation, sameStep } from './raise-incidents.js'

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
  const joined = new Set<NewOccurrence>()
  const fresh: FoundViolation[] = []
  const answers = reports.map((report): CountedReport | FoundViolation => {
    const answer = joinKnown(known, joined, report)
    if (answer !== null) return answer
    const earlier =
      sameEvaluation(fresh, report) ?? (report.evaluation_id === null ? sameStep(fresh, report) : undefined)
    if (earlier === undefined) fresh.push(report)
    return earlier ?? report
  })
  await updateOccurrences(scope, tx, [...joined])
  const counted = await countViolations(triggering, scope, tx, now, fresh, 'reported')
  await recordEvents(
    scope,
    tx,
    now,
    fresh.map((report, index) => reportedEvent(report, counted[index]?.incident_id ?? '')),
  )
  return answers.map((answer) => {
    if ('outcome' in answer) return answer
    return counted[fresh.indexOf(answer)] ?? { incident_id: '', outcome: 'known' }
  })
}

/** The answer for an occurrence that is known, which then is also known as reported; null for a new one. */
function joinKnown(known: NewOccurrence[], joined: Set<NewOccurrence>, report: FoundViolation): CountedReport | null {
  const found = sameEvaluation(known, report) ?? sameOccurrence(known, report)
  if (found === undefined) return null
  const { incident_id, reported_as, evaluation_id } = found
  const is_repeated = reported_as !== null && (report.evaluation_id === null || report.evaluation_id === evaluation_id)
  if (is_repeated) return { incident_id, outcome: reported_as }
  const named = evaluation_id ?? report.evaluation_id
  const reported_reason = found.reported_reason ?? report.reported_reason ?? null
  const next = { ...found, evaluation_id: named, reported_as: reported_as ?? ('known' as const), reported_reason }
  known[known.indexOf(found)] = next
  joined.delete(found)
  joined.add(next)
  return { incident_id, outcome: 'known' }
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
