// Issues a made report: its file in parts, its digest as a leaf of the log, its event (docs/design/reports.md §3).

import type { MadeReport, ReportPlan } from '@svc/report'
import { timesOf } from '@svc/report'
import { type Resources, withTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { recordEvents } from '../ledger/events.js'
import { appendLeaves } from '../ledger/leaves.js'
import { lockLog } from '../ledger/log.js'
import { lockRun, putPart, type Run, setReady } from './store/runs.js'

/** The size of a stored part: an insert of one takes a few ms. */
export const partBytes = 256 * 1024

/**
 * Stores the parts in transactions of their own, which keep neither the log nor the embedded database busy, and then in one
 * transaction the leaf, the event and the state. Does nothing when the run has been replaced or its report deleted.
 */
export async function issueReport(
  { db, clock }: Resources,
  scope: Scope,
  run: Run,
  plan: ReportPlan,
  { bytes, sha256 }: MadeReport,
): Promise<void> {
  for (let part = 0; part * partBytes < bytes.length; part++) {
    const content = bytes.subarray(part * partBytes, (part + 1) * partBytes)
    const isStored = await withTransaction(db, scope, async (tx) => {
      const isOwn = await lockRun(scope, tx, run)
      if (isOwn) await putPart(scope, tx, run.report_id, part, content)
      return isOwn
    })
    if (!isStored) return
  }
  await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    if (!(await lockRun(scope, tx, run))) return
    const { id, format, period, by, agent_ids, cut_off, root } = plan
    const issued = { id, format, ...period, ...timesOf(by), agent_ids, cut_off, root, sha256, bytes: bytes.length }
    const now = clock()
    const log_index = await appendLeaves(scope, tx, now, [{ type: 'report', subject_id: id, data: { report: issued } }])
    const data = { ...issued, log_index }
    await recordEvents(scope, tx, now, [{ kind: 'report.issued', subject_kind: 'report', subject_id: id, data }])
    await setReady(scope, tx, run, now, { bytes: bytes.length, sha256, log_index })
  })
}
