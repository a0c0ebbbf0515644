// Puts the parts of this room together.
import type { Logger } from 'pino'
import type { Resources } from '../db/db.js'
import type { Job, Send } from '../jobs/job.js'
import type { Log } from '../log/parts.js'
import { makeReport } from './collect/make-report.js'
import { makeReportJob } from './make-job.js'
import type { ReportParts } from './routes/reports.js'

interface RoomParts extends Resources {
  readonly logger: Logger
  readonly log: Pick<Log, 'identity' | 'holds_key'>
}

export interface ReportRoom {
  readonly jobs: readonly Job[]
  /** The parts of the routes, once jobs can be sent. */
  readonly partsWith: (send: Send) => ReportParts
}

export function openReports({ db, clock, logger, log }: RoomParts): ReportRoom {
  const { keysOf } = log.identity
  const job = makeReportJob({
    db,
    clock,
    logger,
    isMaker: log.holds_key,
    make: (scope, plan, watch) => makeReport({ db, keysOf }, scope, plan, watch),
  })
  return { jobs: [job], partsWith: (send) => ({ db, clock, send }) }
}
