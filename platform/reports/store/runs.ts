// The runs that make reports. A run writes only while its id is that of the report: after a newer run has begun, or the report
// was deleted, it changes nothing.

import type { ReportPlan } from '@svc/report'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

/** A run of a report. */
export interface Run {
  readonly report_id: string
  readonly run_id: string
}

interface StartedRow {
  readonly id: string
  readonly format: ReportPlan['format']
  readonly from: string
  readonly to: string
  readonly by: ReportPlan['by']
  readonly agent_ids: readonly string[] | null
  readonly cut_off: number
  readonly root: string
}

/** Starts a run, which replaces an earlier one; returns its plan, or null for a report that does not wait for one. */
export async function startRun(scope: Scope, tx: Transaction, { report_id, run_id }: Run): Promise<ReportPlan | null> {
  const [row] = await tx.query<StartedRow>(
    `update reports set status = 'running', progress = 0, run_id = $3
     where org_id = $1 and id = $2 and status in ('queued', 'running')
     returning id, format, ${utc('period_from', '"from"')}, ${utc('period_to', '"to"')}, counted_by as by, agent_ids, cut_off,
       root`,
    [scope.org_id, report_id, run_id],
  )
  if (row === undefined) return null
  await deleteParts(scope, tx, report_id)
  const { from, to, ...others } = row
  return { ...others, period: { from, to } } satisfies ReportPlan
}

/** Records the progress (0 to 1); false when the run has been replaced or its report deleted. */
export async function recordProgress(scope: Scope, tx: Transaction, run: Run, progress: number): Promise<boolean> {
  const rows = await tx.query(`update reports set progress = $4 where ${ofRun} returning id`, [
    ...valuesOf(scope, run),
    progress,
  ])
  return rows.length > 0
}

/** Locks the report until the transaction ends; false when the run has been replaced or its report deleted. */
export async function lockRun(scope: Scope, tx: Transaction, run: Run): Promise<boolean> {
  const rows = await tx.query(`select id from reports where ${ofRun} for update`, valuesOf(scope, run))
  return rows.length > 0
}

/** Stores a part of the file. The run must be locked. */
export async function putPart(scope: Scope, tx: Transaction, report_id: string, part: number, content: Uint8Array) {
  await tx.query('insert into report_parts (org_id, report_id, part, content) values ($1, $2, $3, $4)', [
    scope.org_id,
    report_id,
    part,
    content,
  ])
}

interface Issued {
  readonly bytes: number
  readonly sha256: string
  readonly log_index: number
}

/** Sets the report ready at `now` (ms since 1970). The run must be locked. */
export async function setReady(scope: Scope, tx: Transaction, run: Run, now: number, issued: Issued): Promise<void> {
  await tx.query(
    `update reports set status = 'ready', progress = 1, error = null, bytes = $4, sha256 = $5, log_index = $6, ready_at = $7
     where ${ofRun}`,
    [...valuesOf(scope, run), issued.bytes, issued.sha256, issued.log_index, isoTime(now)],
  )
}

/** Sets the report failed with the reason, if the run has not been replaced. */
export async function setFailed(scope: Scope, tx: Transaction, run: Run, error: string): Promise<void> {
  const rows = await tx.query(`update reports set status = 'failed', error = $4 where ${ofRun} returning id`, [
    ...valuesOf(scope, run),
    error,
  ])
  if (rows.length > 0) await deleteParts(scope, tx, run.report_id)
}

/** Sets the report queued again after an interruption. */
export async function setInterrupted(scope: Scope, tx: Transaction, run: Run): Promise<void> {
  await tx.query(`update reports set status = 'queued', progress = 0 where ${ofRun}`, valuesOf(scope, run))
}

const ofRun = `org_id = $1 and id = $2 and run_id = $3 and status = 'running'`

function valuesOf({ org_id }: Scope, { report_id, run_id }: Run): readonly string[] {
  return [org_id, report_id, run_id]
}

async function deleteParts(scope: Scope, tx: Transaction, report_id: string): Promise<void> {
  await tx.query('delete from report_parts where org_id = $1 and report_id = $2', [scope.org_id, report_id])
}
