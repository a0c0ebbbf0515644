// The evaluation that the record of a step commits to, beside the violations that the platform keeps of it.
import { commitmentOfText } from '@svc/proof'
import type { CommittedResult, LogRecord } from '@svc/schemas'
import type { EvaluatedRow, ViolationRow } from '../messages.js'
import type { Problem } from './problems.js'
import type { GivenApproval } from './steps.js'

/**
 * The results of a step, which open their commitment; none for a step without violations and approvals. Reports an altered
 * evaluation, and violations that are not those of the evaluation.
 */
export function evaluationOf(
  { evaluation }: LogRecord,
  row: EvaluatedRow | undefined,
  violations: readonly ViolationRow[],
  index: number,
  report: Problem,
): readonly CommittedResult[] {
  const [, salt, text] = row ?? [index, null, '[]']
  if (row !== undefined && commitmentOfText('evaluation', text, Buffer.from(salt ?? '', 'hex')) !== evaluation) {
    report('payload_altered', index, `the evaluation of entry ${index} does not match its record`)
    return []
  }
  const results = JSON.parse(text) as CommittedResult[]
  const violated = new Set(results.flatMap((one) => (one.violated ? one.policy_id : [])))
  const isSame = violations.length === violated.size && violations.every(([, policy_id]) => violated.has(policy_id))
  if (!isSame) {
    const counts = `${violations.length} in the database, ${violated.size} in its evaluation`
    report('violations_altered', index, `the violations of entry ${index} are not those of its record: ${counts}`)
  }
  return results
}

/** The policies whose approval a gate gave. */
export function approvalsIn(results: readonly CommittedResult[]): GivenApproval[] {
  return results.flatMap(({ policy_id, approved_by_step }) =>
    approved_by_step === undefined ? [] : { policy_id, approved_by_step },
  )
}
