// Events about policies that people write or change. Each leaf holds the policy as it is in force from there on.
import { canonical } from '@svc/proof'
import type { JsonMap, Policy } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { recordEvents } from '../ledger/events.js'
import { writtenMembers } from './given/members.js'

export type PolicyEventKind =
  | 'policy.created'
  | 'policy.updated'
  | 'policy.enabled'
  | 'policy.disabled'
  | 'policy.deleted'

/** A member before and after. */
export type Changes = Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>

/** Characters of a policy in the audit trail, whose pages have 200 events; a policy has up to a million. */
const maxShown = 5_000

export async function notePolicy(
  scope: Scope,
  tx: Transaction,
  now: number,
  kinds: readonly { readonly kind: PolicyEventKind; readonly changes?: Changes }[],
  policy: Policy,
): Promise<void> {
  const { id, name, version, agent_id, risk_classification, manifest_id, manifest_path } = policy
  const content = Object.fromEntries(writtenMembers.map((member) => [member, policy[member] ?? null]))
  const events = kinds.map(({ kind, changes = {} }) => {
    const whole = { policy: content, changes }
    const about = { name, version, agent_id, risk_classification, manifest_id, manifest_path }
    return { kind, subject_kind: 'policy', subject_id: String(id), data: { ...about, ...shown(whole) }, in_leaf: whole }
  })
  await recordEvents(scope, tx, now, events)
}

/** Of a large policy the audit trail shows which members changed. */
function shown(whole: { readonly policy: JsonMap; readonly changes: Changes }): JsonMap {
  if (canonical(whole).length <= maxShown) return whole
  return { policy: null, changes: Object.fromEntries(Object.keys(whole.changes).map((member) => [member, null])) }
}
