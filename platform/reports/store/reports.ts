// Requested reports, as members see them.

import type { ReportPlan } from '@svc/report'
import type { Report } from '@svc/schemas'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf, total } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

const columns = `id, status, progress, format, ${utc('period_from', '"from"')}, ${utc('period_to', '"to"')}, counted_by as by,
  agent_ids, cut_off, root, requested_by, ${utc('created_at')}, ${utc('ready_at')}, bytes, sha256, log_index, error`

/** Null for an unknown id. */
export async function findReport(scope: Scope, tx: Transaction, id: string): Promise<Report | null> {
  const [report] = await tx.query<Report>(`select ${columns} from reports where org_id = $1 and id = $2`, [
    scope.org_id,
    id,
  ])
  return report ?? null
}

/** The number orders the list. */
interface NumberedReport extends Report {
  readonly number: number
}

export function listReports(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<NumberedReport>> {
  const reports = rowsOf(scope, 'reports').where(equal({ status: filter.status, format: filter.format }))
  return page<NumberedReport>(tx, reports, { columns: `number, ${columns}`, key: 'number', newest_first: true }, at)
}

/** The number of reports that wait for their run or are in it. */
export function countUnfinished(scope: Scope, tx: Transaction): Promise<number> {
  return total(tx, rowsOf(scope, 'reports').whereIn('status', ['queued', 'running']))
}

/** The number of reports of the workspace, in every state. */
export function countReports(scope: Scope, tx: Transaction): Promise<number> {
  return total(tx, rowsOf(scope, 'reports'))
}

/** Adds a report to the queue, or a failed one again; `now` is ms since 1970. The log must be locked. */
export async function queueReport(
  scope: Scope,
  tx: Transaction,
  now: number,
  { id, format, period, by, agent_ids, cut_off, root }: ReportPlan,
  requested_by: string,
): Promise<void> {
  const agents = agent_ids === null ? null : JSON.stringify(agent_ids)
  await tx.query(
    `insert into reports (org_id, id, number, format, period_from, period_to, counted_by, agent_ids, cut_off, root, status,
       requested_by, created_at)
     select $1, $2, coalesce((select max(number) from reports where org_id = $1), 0) + 1, $3, $4, $5, $6, $7, $8, $9, 'queued',
       $10, $11
     on conflict (org_id, id) do update set status = 'queued', progress = 0, error = null, run_id = null,
       requested_by = excluded.requested_by`,
    [scope.org_id, id, format, period.from, period.to, by, agents, cut_off, root, requested_by, isoTime(now)],
  )
}

/** Deletes a report with its file; false for an unknown id. */
export async function deleteReport(scope: Scope, tx: Transaction, id: string): Promise<boolean> {
  const values = [scope.org_id, id]
  const found = await tx.query('delete from reports where org_id = $1 and id = $2 returning id', values)
  await tx.query('delete from report_parts where org_id = $1 and report_id = $2', values)
  return found.length > 0
}

/** A part of the file of a ready report with this SHA-256 (hex); null once it is deleted. */
export async function readPart(
  scope: Scope,
  tx: Transaction,
  id: string,
  sha256: string,
  part: number,
): Promise<Uint8Array | null> {
  const [row] = await tx.query<{ content: Uint8Array }>(
    `select p.content from reports r join report_parts p on p.org_id = r.org_id and p.report_id = r.id
     where r.org_id = $1 and r.id = $2 and r.status = 'ready' and r.sha256 = $3 and p.part = $4`,
    [scope.org_id, id, sha256, part],
  )
  return row?.content ?? null
}
