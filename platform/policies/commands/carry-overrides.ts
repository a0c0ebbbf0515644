// A new version of a manifest keeps what people set on its policies where it does not change them (docs/design/platform.md §4).
import type { Policy } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import type { Moment } from '../../ledger/moment.js'
import { keptSwitches } from '../overrides.js'
import type { NewPolicy } from '../store/policies.js'

/** The policies of the new version, with what was set on the same policies of the version before. */
export function withOverrides(policies: readonly NewPolicy[], overridden: readonly Policy[]): NewPolicy[] {
  return policies.map((policy) => ({ ...policy, ...keptSwitches(policy, overridden) }))
}

/** Records for each policy whether what was set on it holds for the new version. */
export async function noteOverrides(
  scope: Scope,
  tx: Transaction,
  { now }: Moment,
  overridden: readonly Policy[],
  inserted: readonly Policy[],
): Promise<void> {
  const events = overridden.map((old) => {
    const next = inserted.find(({ name }) => name === old.name)
    const kept = next?.overridden != null
    const { name, agent_id, manifest_path } = old
    const in_force = next === undefined ? null : { policy_id: next.id, enabled: next.enabled, mode: next.mode }
    const set = { enabled: old.enabled, mode: old.mode }
    const reason = kept ? 'unchanged' : next === undefined ? 'removed' : 'changed'
    const data = { name, agent_id, manifest_path, set, reason, in_force }
    return {
      kind: kept ? 'policy.override_kept' : 'policy.override_dropped',
      subject_kind: 'policy',
      subject_id: String(old.id),
      data,
    }
  })
  await recordEvents(scope, tx, now, events)
}
