// Reports of local engines that have become events: each becomes one once.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows } from '../../db/sql.js'

export interface ReportId {
  readonly kind: 'unrecorded' | 'gap'
  /** The id that the engine gave it. */
  readonly id: string
}

const columns = { org_id: 'text', agent_id: 'text', kind: 'text', id: 'text', log_index: 'bigint' }

/** Those of the reports that the agent has made before. */
export function findReports(
  { org_id }: Scope,
  tx: Transaction,
  agent_id: string,
  ids: readonly ReportId[],
): Promise<ReportId[]> {
  return tx.query<ReportId>(
    `select kind, id from trace_reports
     where org_id = $1 and agent_id = $2 and (kind, id) in (select * from unnest($3::text[], $4::text[]))`,
    [org_id, agent_id, ...columnsOf(ids, ['kind', 'id'])],
  )
}

export async function insertReports(
  { org_id }: Scope,
  tx: Transaction,
  agent_id: string,
  reports: readonly (ReportId & { readonly log_index: number })[],
): Promise<void> {
  const rows = reports.map(({ kind, id, log_index }) => ({ org_id, agent_id, kind, id, log_index }))
  await tx.query(
    insertRows('trace_reports', columns),
    columnsOf(rows, ['org_id', 'agent_id', 'kind', 'id', 'log_index']),
  )
}
