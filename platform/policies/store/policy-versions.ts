// When each version of a policy that people change was in force, in log indexes and times (docs/design/platform.md §4).
import { isoTime, type Policy } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { Moment } from '../../ledger/moment.js'

/** Ends the version in force. False when the policy has none: it is from a manifest, and nothing was set on it. */
export async function endPolicyVersion(
  scope: Scope,
  tx: Transaction,
  { now, log_index }: Moment,
  policy_id: number,
): Promise<boolean> {
  const rows = await tx.query(
    `update policy_versions set until_index = $3, until_at = $4
     where org_id = $1 and policy_id = $2 and until_index is null returning 1`,
    [scope.org_id, policy_id, log_index, isoTime(now)],
  )
  return rows.length > 0
}

/** Ends the versions in force of the policies of an assignment, whose version ends. */
export async function endVersionsOf(
  scope: Scope,
  tx: Transaction,
  { now, log_index }: Moment,
  assignment_id: number,
): Promise<void> {
  await tx.query(
    `update policy_versions set until_index = $3, until_at = $4
     where org_id = $1 and until_index is null and policy_id in (
       select id from policies where org_id = $1 and assignment_id = $2 and until_index is null)`,
    [scope.org_id, assignment_id, log_index, isoTime(now)],
  )
}

/** Records the policy as it is in force from a moment on; null for the moment from which its manifest put it in force. */
export async function beginPolicyVersion(
  scope: Scope,
  tx: Transaction,
  moment: Moment | null,
  policy: Policy,
): Promise<void> {
  const enforced = policy.enabled && policy.mode === 'enforce' && policy.scope !== 'agent_registration'
  await tx.query(
    `insert into policy_versions (org_id, policy_id, version, target_agent, target_level, enforced, waived_until, controls,
       from_index, from_at)
     select org_id, id, $3, $4, $5, $6, waived_until, $7, coalesce($8, from_index), coalesce($9::timestamptz, created_at)
     from policies where org_id = $1 and id = $2`,
    [
      scope.org_id,
      policy.id,
      policy.version,
      policy.agent_id ?? '',
      // A policy of a manifest is on its agent because of the agent's level already.
      policy.manifest_id === null ? policy.risk_classification : null,
      enforced,
      policy.controls,
      moment?.log_index ?? null,
      moment === null ? null : isoTime(moment.now),
    ],
  )
}

/** A version that was enforced on the steps of one agent or of all; times are ms since 1970. */
export interface EnforcedVersion {
  readonly policy_id: number
  readonly version: number
  /** Empty for all agents. */
  readonly target_agent: string
  readonly target_level: string | null
  readonly from: number
  /** Null: in force at the cut-off. */
  readonly until: number | null
}

type Place = Pick<EnforcedVersion, 'target_agent' | 'policy_id' | 'version'>

/**
 * The enforced versions for these agents or for all agents that were in force between two times (RFC 3339) as of a size of the log:
 * those after one of them, in order of agent, policy and version; at most `limit`. A waived policy counts from the end of its waiver.
 */
export function enforcedVersions(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
  { from, to, size }: { readonly from: string; readonly to: string; readonly size: number },
  after: Place,
  limit: number,
): Promise<EnforcedVersion[]> {
  return tx.query<EnforcedVersion>(
    `select policy_id, version, target_agent, target_level, ${ms('greatest(from_at, waived_until)')} as "from",
       case when until_index < $3 then ${ms('until_at')} end as until
     from policy_versions
     where org_id = $1 and target_agent = any($2::text[]) and (target_agent, policy_id, version) > ($6, $7, $8) and enforced
       and from_index < $3 and from_at < $5 and (until_index is null or until_index >= $3 or until_at > $4)
     order by target_agent, policy_id, version limit $9`,
    [scope.org_id, ['', ...agent_ids], size, from, to, after.target_agent, after.policy_id, after.version, limit],
  )
}

function ms(column: string): string {
  return `(extract(epoch from ${column}) * 1000)::float8`
}
