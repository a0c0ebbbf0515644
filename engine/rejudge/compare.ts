// The evaluation that a record commits to, compared with the one that was computed again.
import { canonical, isMap } from '@svc/proof'
import type { CommittedResult } from '@svc/schemas'

export interface Difference {
  /** Null when the recorded list as a whole is not one that a platform writes. */
  readonly policy_id: number | null
  readonly recorded: CommittedResult | null
  readonly computed: CommittedResult | null
}

/** The results that differ, by policy; none when both lists are equal. */
export function differences(recorded: unknown, computed: readonly CommittedResult[]): Difference[] {
  const listed = resultsIn(recorded)
  if (listed === null) return [{ policy_id: null, recorded: null, computed: null }]
  if (canonical(listed) === canonical(computed)) return []
  const own = new Map(computed.map((result) => [result.policy_id, result]))
  const found: Difference[] = listed.flatMap((one) => {
    const other = own.get(one.policy_id) ?? null
    const isEqual = other !== null && canonical(one) === canonical(other)
    return isEqual ? [] : [{ policy_id: one.policy_id, recorded: one, computed: other }]
  })
  const named = new Set(listed.map(({ policy_id }) => policy_id))
  for (const one of computed)
    if (!named.has(one.policy_id)) found.push({ policy_id: one.policy_id, recorded: null, computed: one })
  return found.length > 0 ? found : [{ policy_id: null, recorded: null, computed: null }]
}

/** The recorded results, with their known members only; null for a list that no platform writes. */
function resultsIn(recorded: unknown): CommittedResult[] | null {
  if (!Array.isArray(recorded) || !recorded.every(isResult)) return null
  const ids = recorded.map(({ policy_id }) => policy_id)
  return new Set(ids).size === ids.length ? recorded : null
}

const members = ['policy_id', 'version', 'violated', 'code', 'approved_by_step', 'applied']

function isResult(value: unknown): value is CommittedResult {
  if (!isMap(value)) return false
  const { policy_id, version, violated, code, approved_by_step, applied } = value
  return (
    Object.keys(value).every((name) => members.includes(name)) &&
    [policy_id, version].every(Number.isSafeInteger) &&
    typeof violated === 'boolean' &&
    (code === null || typeof code === 'string') &&
    (approved_by_step === undefined || approved_by_step === null || Number.isSafeInteger(approved_by_step)) &&
    (applied === undefined || applied === true)
  )
}
