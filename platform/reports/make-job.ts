// The job that makes reports, one at a time in each process (docs/design/reports.md §3).
import { randomUUID } from 'node:crypto'
import type { MadeReport, ReportPlan } from '@svc/report'
import type { Logger } from 'pino'
import { type Resources, type Transaction, withTransaction } from '../db/db.js'
import { type Scope, scopeOf } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { defineJob, type Job, type Send } from '../jobs/job.js'
import { issueReport } from './issue.js'
import { createProgressRecord } from './progress-record.js'
import { type Run, setFailed, setInterrupted, startRun } from './store/runs.js'

/** The work of a run. It rejects when the signal is aborted, and with a PlatformError whose message is for the requester. */
export type MakeReport = (scope: Scope, plan: ReportPlan, watch: Watch) => Promise<MadeReport>

interface Watch {
  readonly signal: AbortSignal
  /** Takes the share of the work that is done, 0 to 1; as often as it changes. */
  readonly progress: (share: number) => void
}

interface MakeParts extends Resources {
  readonly logger: Logger
  readonly make: MakeReport
  /** False in a process without the signing key of the log, which cannot name the keys that have signed it. */
  readonly isMaker: boolean
}

const name = 'make-report'
/** Runs of a report that may end without a result, because the process was killed: by a restart, or for lack of memory. */
const maxRuns = 3
const timeout_seconds = 1800

interface Named {
  readonly org_id: string
  readonly report_id: string
  readonly [name: string]: string
}

export function makeReportJob(parts: MakeParts): Job {
  return defineJob<Named>({
    name,
    key: ({ org_id, report_id }) => `${org_id}/${report_id}`,
    concurrency: parts.isMaker ? 1 : 0,
    timeout_seconds,
    // One run more reports the failure.
    retries: maxRuns + 1,
    run: async ({ org_id, report_id }, signal, runs) => {
      const scope = scopeOf(org_id, { kind: 'system', id: 'reports' })
      await runOnce(parts, scope, { report_id, run_id: randomUUID() }, signal, runs)
    },
  })
}

/** Sends the job that makes a report, when the transaction commits. */
export function sendReport(send: Send, { org_id }: Scope, report_id: string, tx: Transaction): Promise<void> {
  return send(name, { org_id, report_id }, { tx })
}

/** Resolves when the report is ready, failed, deleted or made by a newer run. Rejects for a run that is to be repeated. */
async function runOnce(parts: MakeParts, scope: Scope, run: Run, signal: AbortSignal, runs: number): Promise<void> {
  const { db, make } = parts
  const plan = await withTransaction(db, scope, (tx) => startRun(scope, tx, run))
  if (plan === null) return
  if (runs > maxRuns) return fail(parts, scope, run, exhausted)
  const replaced = new AbortController()
  const both = AbortSignal.any([signal, replaced.signal])
  const record = createProgressRecord(parts, scope, run, () => replaced.abort())
  try {
    const made = await make(scope, plan, { signal: both, progress: record.progress })
    await record.close()
    both.throwIfAborted()
    await issueReport(parts, scope, run, plan, made)
  } catch (error) {
    await record.close()
    if (!replaced.signal.aborted) await endWithout(parts, scope, run, signal, error)
  }
}

/** A run without a report: it failed for good, or is repeated. */
async function endWithout(parts: MakeParts, scope: Scope, run: Run, signal: AbortSignal, error: unknown) {
  if (isClosing(signal)) {
    await withTransaction(parts.db, scope, (tx) => setInterrupted(scope, tx, run))
    throw error
  }
  if (signal.aborted) return fail(parts, scope, run, tooLong)
  if (error instanceof PlatformError && error.code === 'UNAVAILABLE') throw error
  if (error instanceof PlatformError && error.code !== 'INTERNAL') return fail(parts, scope, run, error.message)
  parts.logger.error({ err: error, report: run.report_id }, 'a report could not be made')
  await fail(parts, scope, run, internal)
}

/** A process that stops aborts without a reason of its own; a run that takes too long has an ordinary error. */
function isClosing({ aborted, reason }: AbortSignal): boolean {
  return aborted && reason instanceof Error && reason.name === 'AbortError'
}

function fail({ db }: MakeParts, scope: Scope, run: Run, reason: string): Promise<void> {
  return withTransaction(db, scope, (tx) => setFailed(scope, tx, run, reason))
}

const tooLong = `it took longer than ${timeout_seconds / 60} minutes: request a shorter period or fewer agents`
const exhausted = `the platform ended ${maxRuns} times while it made this report: request it again; unless it was restarted, request a shorter period or fewer agents`
const internal = 'an internal error, which the log of the platform names with the id of this report: request it again'
