// What agents did last, from counts and indexes that other rooms keep.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utcText } from '../../db/sql.js'

interface Activity {
  readonly agent_id: string
  /** Incidents that are open or active. */
  readonly open_incidents: number
  /** When the platform received the last step; null without one. */
  readonly last_step_at: string | null
}

export async function activityOf(
  { org_id }: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
): Promise<Map<string, Activity>> {
  const rows = await tx.query<Activity>(
    `select a.agent_id, (
         select coalesce(sum(c.incidents), 0)::float8 from incident_counts c
         where c.org_id = $1 and c.agent_id = a.agent_id and c.state in ('open', 'active')) as open_incidents, (
         select ${utcText('h.last_received_at')} from task_heads h
         where h.org_id = $1 and h.agent_id = a.agent_id order by h.last_log_index desc limit 1) as last_step_at
     from unnest($2::text[]) as a(agent_id)`,
    [org_id, agent_ids],
  )
  return new Map(rows.map((row) => [row.agent_id, row]))
}
