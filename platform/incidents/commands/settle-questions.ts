// A person may approve a step after its question has expired. The step then settles the incident of the question
// (docs/adr/0060-effects.md), in the transaction that records it.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { Triggering } from '../actions/triggers.js'
import type { ApprovedStep } from '../question.js'
import { insertApprovedSteps, type SettledIncident, settledIncidents, settleOccurrences } from '../store/questions.js'
import { settleWithin } from './move-incident.js'

/**
 * Settles the expired questions that the steps answer. An incident whose occurrences are all settled is resolved, unless a member has
 * moved it. `now`: ms since 1970. The log must be locked.
 */
export async function settleQuestions(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  steps: readonly ApprovedStep[],
): Promise<void> {
  if (steps.length === 0) return
  await insertApprovedSteps(scope, tx, steps)
  const touched = await settleOccurrences(scope, tx, steps)
  for (const incident of await settledIncidents(scope, tx, touched))
    await settleWithin(triggering, scope, tx, now, incident.id, reasonOf(incident))
}

function reasonOf({ occurrences, approved_by_step, settled_by_step }: SettledIncident): string {
  const where = `gate at step ${approved_by_step}`
  return occurrences === 1
    ? `a person approved the step (${where}), and it was recorded as step ${settled_by_step}`
    : `a person approved the steps of all ${occurrences} occurrences; the last one (${where}) was recorded as step ${settled_by_step}`
}
