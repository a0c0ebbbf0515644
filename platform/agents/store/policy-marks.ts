// Marks that change with the policies of an agent, which are not loaded for them.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { stoppedAgents } from '../../policies/store/stops.js'

/** A mark differs from an earlier one of the same agent when its effective policies may have changed. */
export type PolicyMark = string

/** The version of the configuration of each organization that has a log. */
export async function configVersionsUnscoped(
  tx: Transaction,
  org_ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx.query<{ org_id: string; config_version: number }>(
    'select org_id, config_version from org_log where org_id = any($1::text[])',
    [org_ids],
  )
  return new Map(rows.map(({ org_id, config_version }) => [org_id, config_version]))
}

export async function configVersion(scope: Scope, tx: Transaction): Promise<number> {
  return (await configVersionsUnscoped(tx, [scope.org_id])).get(scope.org_id) ?? 0
}

/** A row that is written again has another xmin, so that no change of it goes unseen. Sums cost a tenth of a digest of sorted rows. */
const markOfRows = "concat_ws(' ', count(*), sum(id), sum(xmin::text::bigint), sum(id * xmin::text::bigint))"

/** The marks of agents, in one statement for any number of them. */
export async function policyMarks(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
): Promise<ReadonlyMap<string, PolicyMark>> {
  if (agent_ids.length === 0) return new Map()
  const rows = await tx.query<{ agent_id: string; mark: string }>(
    `with own as (
       select agent_id, ${markOfRows} as mark from policies
       where org_id = $1 and agent_id = any($2::text[]) and enabled and deleted_at is null and stop_id is null group by agent_id
     ), shared as (
       select ${markOfRows} as mark from policies
       where org_id = $1 and agent_id is null and enabled and deleted_at is null and stop_id is null
     ), assigned as (
       select agent_id, md5(string_agg(concat_ws(' ', id, manifest_id, manifest_name, manifest_repo, manifest_path,
         manifest_sha, coalesce(pin, '-')), ',' order by id)) as mark from assignments
       where org_id = $1 and agent_id = any($2::text[]) and removed_at is null group by agent_id
     )
     select a.agent_id, concat_ws(' ', a.version, a.risk_classification, coalesce(own.mark, '-'), coalesce(shared.mark, '-'),
       assigned.mark) as mark
     from agents a cross join shared left join own using (agent_id) left join assigned using (agent_id)
     where a.org_id = $1 and a.agent_id = any($2::text[])`,
    [scope.org_id, agent_ids],
  )
  const stopped = [...(await stoppedAgents(scope, tx, agent_ids))].sort(([a], [b]) => a - b)
  const stopsOf = (agent_id: string) =>
    stopped.flatMap(([policy_id, agents]) => (agents.has(agent_id) ? policy_id : []))
  return new Map(rows.map(({ agent_id, mark }) => [agent_id, `${mark} ${stopsOf(agent_id)}`]))
}

/** The part of a mark that differs when the stops of the agent differ. */
export function stopsIn(mark: PolicyMark): string {
  return mark.slice(mark.lastIndexOf(' ') + 1)
}
