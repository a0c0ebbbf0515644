// The job that keeps the statistics of the embedded database: after imports within a minute, otherwise as its rows change.
import type { Database } from '../db/db.js'
import { keepUp } from '../db/upkeep.js'
import { defineJob, type Job } from './job.js'

/** Empty on a server, whose autovacuum does the same. */
export function upkeepJobs(db: Database): Job[] {
  if (db.kind !== 'pglite') return []
  const job = defineJob({
    name: 'keep-up-database',
    schedule: '* * * * *',
    timeout_seconds: 600,
    run: async (_data, signal) => {
      await keepUp(db, signal)
    },
  })
  return [job]
}
