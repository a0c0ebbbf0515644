// Steps that a person approved, in the form that settles expired questions, and the questions of reports.
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { type ApprovedStep, actionHashes } from '../incidents/question.js'
import { areAnswered } from '../incidents/store/questions.js'
import type { Sealer } from '../secrets/seal.js'
import type { AppendedEntry } from './batch.js'
import type { ReportedViolation } from './incident-report.js'
import type { TraceReport } from './trace-report.js'

/** The approved steps of appended entries, one for each policy that a gate approved. The log must be locked. */
export async function approvedSteps(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  appended: readonly AppendedEntry[],
): Promise<ApprovedStep[]> {
  const found = appended.flatMap(({ entry, approved }) => (approved === null ? [] : [{ entry, approved }]))
  if (found.length === 0) return []
  const hashOf = await actionHashes(scope, tx, sealer)
  return found.flatMap(({ entry, approved: { action_digest, gates } }) => {
    const { agent_id, task_id, step, log_index, occurred_at, received_at } = entry
    const action = hashOf(task_id, action_digest)
    const at = Math.min(Date.parse(occurred_at), Date.parse(received_at))
    return [...gates].map(([policy_id, approved_by_step]) => {
      return { agent_id, task_id, policy_id, action, approved_by_step, step, log_index, at }
    })
  })
}

/**
 * The violations of reports of an agent, those of questions with what an approval compares. A question whose approved step was recorded
 * before its report arrived is left out: it is settled. The log must be locked.
 */
export async function unansweredViolations(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  agent_id: string,
  reports: readonly TraceReport[],
): Promise<ReportedViolation[]> {
  const violations = reports.flatMap((report) => report.violations.map((violation) => ({ report, violation })))
  if (!reports.some(({ question }) => question !== null)) return violations.map(({ violation }) => violation)
  const hashOf = await actionHashes(scope, tx, sealer)
  const all = violations.map(({ report: { question, task_id }, violation }) => {
    if (question === null || task_id === null) return { violation, asked: [] }
    const { asked_at, action_digest } = question
    const own = { asked_at, action: hashOf(task_id, action_digest) }
    const { policy_id } = violation
    const asked = policy_id === null ? [] : [{ ...own, agent_id, task_id, policy_id }]
    return { violation: { ...violation, question: own }, asked }
  })
  const answers = (
    await areAnswered(
      scope,
      tx,
      all.flatMap(({ asked }) => asked),
    )
  ).values()
  return all.flatMap(({ violation, asked }) => (asked.length > 0 && answers.next().value === true ? [] : [violation]))
}
