// Requests a report: the same request finds the report that exists.
import { setTimeout as delay } from 'node:timers/promises'
import { timesOf } from '@svc/report'
import type { Report, ReportRequest } from '@svc/schemas'
import { changeAs } from '../../access/commands/members.js'
import type { Resources } from '../../db/db.js'
import { actorText, type Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { auditors } from '../../http/principal.js'
import type { Send } from '../../jobs/job.js'
import { recordEvents } from '../../ledger/events.js'
import { sendReport } from '../make-job.js'
import { planRequest, UnsignedEntries } from '../plan-request.js'
import { countReports, countUnfinished, findReport, queueReport } from '../store/reports.js'

export interface RequestParts extends Resources {
  readonly send: Send
  /** The time for which a request waits for the checkpoint that covers its period, ms. */
  readonly sign_wait_ms: number
}

const signPollMs = 250

/** The maximum number of reports of a workspace that wait or are in progress. */
export const maxUnfinished = 20
const busySeconds = 30
/** The maximum number of reports of a workspace, whose files are kept until they are deleted. */
const maxReports = 1000

interface Requested {
  readonly report: Report
  /** False for a report that exists already. */
  readonly isQueued: boolean
}

/**
 * Queues the report, or a failed one again, once the entries of its period are signed. Rejects with INVALID and TOO_LARGE as
 * `planRequest` does, with UNAVAILABLE where they remain unsigned, with RATE_LIMITED while many reports of the workspace wait, and with
 * CONFLICT for one beyond those that a workspace keeps.
 */
export async function requestReport(parts: RequestParts, scope: Scope, request: ReportRequest): Promise<Requested> {
  const asked_at = parts.clock()
  for (let left = parts.sign_wait_ms; ; left -= signPollMs) {
    try {
      return await queueRequest(parts, scope, request, asked_at)
    } catch (error) {
      if (!(error instanceof UnsignedEntries) || left <= 0) throw error
    }
    await delay(signPollMs)
  }
}

function queueRequest(parts: RequestParts, scope: Scope, request: ReportRequest, asked_at: number): Promise<Requested> {
  return changeAs(parts, scope, auditors, async (tx, { now, log_index: size }) => {
    const plan = await planRequest(scope, tx, { time: asked_at, size }, request)
    const known = await findReport(scope, tx, plan.id)
    if (known !== null && known.status !== 'failed') return { report: known, isQueued: false }
    if ((await countUnfinished(scope, tx)) >= maxUnfinished) throw busy()
    if (known === null && (await countReports(scope, tx)) >= maxReports) throw tooMany()
    await queueReport(scope, tx, now, plan, actorText(scope))
    // Besides the audit trail, this entry is later than the period: no entry of the period can follow it.
    const { id, format, period, by, agent_ids, cut_off } = plan
    const data = { id, format, ...period, ...timesOf(by), agent_ids, cut_off }
    await recordEvents(scope, tx, now, [{ kind: 'report.requested', subject_kind: 'report', subject_id: id, data }])
    await sendReport(parts.send, scope, id, tx)
    return { report: (await findReport(scope, tx, id)) as Report, isQueued: true }
  })
}

function tooMany(): PlatformError {
  const remedy = 'delete old ones with DELETE /api/v1/reports/{id}, after you have downloaded them'
  return new PlatformError('CONFLICT', `a workspace keeps at most ${maxReports} reports: ${remedy}`)
}

function busy(): PlatformError {
  const message = `${maxUnfinished} reports of this workspace wait or are in progress: try again when one of them is ready`
  return new PlatformError('RATE_LIMITED', message, { headers: { 'retry-after': String(busySeconds) } })
}
