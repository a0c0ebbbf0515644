// The evaluation that the record of a step commits to, beside the violations that the platform keeps of it.
import { commitmentOfText, firstUnopened, isMap, parseJson } from '@svc/proof'
import { type CommittedResult, isBlocked, type LogRecord, type Step } from '@svc/schemas'
import type { AppliedRow, AskedRow, EvaluatedRow, ViolationRow } from '../../content/messages.js'
import type { Problem } from '../problems.js'
import type { AskOutcome, GivenApproval } from './steps.js'

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
  const results = parseJson(text) as CommittedResult[]
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

const isApplied = ({ violated, applied, approved_by_step }: CommittedResult) =>
  violated || applied === true || approved_by_step !== undefined

/** The policies that applied to each step. */
export function appliedIn(rows: readonly AppliedRow[]): Map<number, readonly number[]> {
  const applied = new Map<number, readonly number[]>()
  for (const [evaluation, indexes] of rows) {
    const results = readable(evaluation)
    // No policy is shown to apply by an altered text.
    const ids = (Array.isArray(results) ? (results as CommittedResult[]) : []).flatMap((result) =>
      isApplied(result) ? result.policy_id : [],
    )
    for (const index of indexes) applied.set(index, ids)
  }
  return applied
}

/** The value of a stored text; undefined for an altered one that is not JSON. */
function readable(text: string): unknown {
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

/** The outcome of a step that a policy forbade, or asked about in vain. Reports an altered payload. */
export function unapproved(
  { data, evaluation }: LogRecord,
  row: AskedRow | undefined,
  index: number,
  report: Problem,
): Exclude<AskOutcome, 'given'> {
  if (row === undefined) return 'erased'
  const [salts, values] = [row[1], row[2]].map((text) => readable(text ?? 'null'))
  if (!isMap(salts) || !isMap(values) || firstUnopened({ ...data, evaluation }, salts, values) !== null) {
    report('payload_altered', index, `the content of entry ${index} does not match its record`)
    return 'missing'
  }
  return isBlocked(values as unknown as Step) ? 'blocked' : 'missing'
}
