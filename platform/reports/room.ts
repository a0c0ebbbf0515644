// Puts the parts of this room together.
import type { Logger } from 'pino'
import type { Job } from '../jobs/job.js'
import type { Log } from '../log/parts.js'
import { makeReport } from './collect/make-report.js'
import type { RequestParts } from './commands/request-report.js'
import { makeReportJob } from './make-job.js'

interface RoomParts extends Pick<RequestParts, 'db' | 'clock' | 'send'> {
  readonly logger: Logger
  readonly log: Pick<Log, 'identity' | 'holds_key'>
  /** The interval of checkpoints; 0 for never. */
  readonly checkpoint_seconds: number
}

/** A request waits for the next checkpoint, and not for hours. */
const maxSignWaitMs = 20_000

export interface ReportRoom {
  readonly jobs: readonly Job[]
  readonly parts: RequestParts
}

export function openReports({ db, clock, send, logger, log, checkpoint_seconds }: RoomParts): ReportRoom {
  const { keysOf } = log.identity
  const job = makeReportJob({
    db,
    clock,
    logger,
    isMaker: log.holds_key,
    make: (scope, plan, watch) => makeReport({ db, keysOf }, scope, plan, watch),
  })
  const sign_wait_ms = Math.min(1500 * checkpoint_seconds, maxSignWaitMs)
  return { jobs: [job], parts: { db, clock, send, sign_wait_ms } }
}
