// Deletes a report and its file. Its leaf stays in the log: a copy of the file can still be verified.
import { changeAs } from '../../access/commands/members.js'
import type { Resources } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { admins } from '../../http/principal.js'
import { recordEvents } from '../../ledger/events.js'
import { deleteReport, findReport } from '../store/reports.js'

/** A run that works on it ends at its next progress. Rejects with NOT_FOUND. */
export function removeReport(parts: Resources, scope: Scope, id: string): Promise<void> {
  return changeAs(parts, scope, admins, async (tx, { now }) => {
    const report = await findReport(scope, tx, id)
    if (report === null) throw unknownReport()
    await deleteReport(scope, tx, id)
    const { status, format, from, to, sha256, log_index } = report
    const data = { id, status, format, from, to, sha256, log_index }
    await recordEvents(scope, tx, now, [{ kind: 'report.deleted', subject_kind: 'report', subject_id: id, data }])
  })
}

export function unknownReport(): PlatformError {
  return new PlatformError('NOT_FOUND', 'no such report: GET /api/v1/reports lists them')
}
