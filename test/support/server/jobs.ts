// A job room on a database of its own, with what its jobs have done.
import type { Config } from '@svc/platform'
import { pino } from 'pino'
import { type Database, openDatabase } from '../../../platform/db/db.js'
import { migrate } from '../../../platform/db/migrations/index.js'
import type { Job, JobTimes } from '../../../platform/jobs/job.js'
import { openQueue, type Queue } from '../../../platform/jobs/jobs.js'

export interface JobRoom {
  readonly db: Database
  /** Opens the room, as a start of the platform does. */
  readonly open: (jobs: readonly Job[], clock?: () => number, times?: Partial<JobTimes>) => Promise<Queue>
  /** The lines of the log so far. */
  readonly logged: Record<string, unknown>[]
  readonly close: () => Promise<void>
}

export async function openJobRoom(config: Config): Promise<JobRoom> {
  const db = await openDatabase(config)
  await migrate(db)
  const logged: Record<string, unknown>[] = []
  const logger = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const opened: Queue[] = []
  const open: JobRoom['open'] = async (jobs, clock = Date.now, times = {}) => {
    // A process of a busy machine is silent for a second.
    const quick = { poll: 100, drain: 300, grace: 100, unseen: 4000 }
    const made = openQueue({ db, clock, logger }, { ...quick, ...times })
    made.add(jobs)
    await made.start()
    opened.push(made)
    return made
  }
  const close = async () => {
    for (const jobs of opened) await jobs.close()
    await db.close()
  }
  return { db, open, logged, close }
}

/** A promise, and the function that resolves it. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { passed, open }
}
