// Policies that a local engine names when it reports an incident.
import type { Policy } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

export type ReportedPolicy = Pick<
  Policy,
  'id' | 'name' | 'rule_type' | 'scope' | 'severity' | 'mode' | 'agent_id' | 'manifest_id'
>

const columns = 'id, name, rule_type, scope, severity, mode, agent_id, manifest_id'

/** The policies with these ids, also replaced and deleted ones: a report may arrive after the change. */
export async function policiesWithIds(
  scope: Scope,
  tx: Transaction,
  ids: readonly number[],
): Promise<Map<number, ReportedPolicy>> {
  const rows = await tx.query<ReportedPolicy>(
    `select ${columns} from policies where org_id = $1 and id = any($2::bigint[])`,
    [scope.org_id, ids],
  )
  return new Map(rows.map((row) => [row.id, row]))
}

/** The policies of these manifests that apply to one of the agents, newest first. */
export async function policiesOfManifests(
  scope: Scope,
  tx: Transaction,
  manifest_ids: readonly string[],
  agent_ids: readonly string[],
): Promise<ReportedPolicy[]> {
  if (manifest_ids.length === 0) return []
  return tx.query<ReportedPolicy>(
    `select ${columns} from policies where org_id = $1 and manifest_id = any($2::text[]) and deleted_at is null
       and (agent_id is null or agent_id = any($3::text[])) order by enabled desc, id desc`,
    [scope.org_id, manifest_ids, agent_ids],
  )
}
