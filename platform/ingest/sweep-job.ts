// The job that notes unfinished tasks each minute, in every process; a minute is run by one of them.
import { isoTime } from '@svc/schemas'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { type Resources, withUnscopedTransaction } from '../db/db.js'
import { scopeOf } from '../db/scope.js'
import type { Triggering } from '../incidents/actions/triggers.js'
import { defineJob, type Job } from '../jobs/job.js'
import { noteUnfinishedTasks } from './commands/note-unfinished.js'
import { organizationsDueUnscoped } from './store/unfinished-tasks.js'

interface SweepParts extends Resources, Triggering {
  readonly logger: Pick<Logger, 'error'>
  readonly config: Pick<Config, 'task_timeout_seconds'>
}

/** Tasks of one transaction, which holds the lock of the log, for which every step that is logged waits: 30 ms with 50,000 due. */
const batchSize = 200

export function sweepJob(parts: SweepParts): Job {
  return defineJob({
    name: 'note-unfinished-tasks',
    schedule: '* * * * *',
    timeout_seconds: 600,
    run: (_data, signal) => sweep(parts, signal),
  })
}

/** One batch of each organization in turn, so that none waits for a long list of another. */
async function sweep(parts: SweepParts, signal: AbortSignal): Promise<void> {
  const { db, clock, logger, config, send } = parts
  const { task_timeout_seconds } = config
  const overdue = isoTime(clock() - task_timeout_seconds * 1000)
  let due = await withUnscopedTransaction(db, (tx) => organizationsDueUnscoped(tx, overdue))
  const failed = new Set<string>()
  while (due.length > 0) {
    const remaining: string[] = []
    for (const org_id of due) {
      if (signal.aborted) return
      const scope = scopeOf(org_id, { kind: 'system', id: 'task-timeout' })
      // An error of one organization must not stop the others.
      const noted = await noteUnfinishedTasks({ db, clock, send }, scope, task_timeout_seconds, batchSize).catch(
        (error: unknown) => {
          logger.error({ err: error, org_id }, 'unfinished tasks could not be noted')
          failed.add(org_id)
          return 0
        },
      )
      if (noted === batchSize) remaining.push(org_id)
    }
    due = remaining
  }
  if (failed.size > 0) throw new Error(`the unfinished tasks of ${failed.size} organizations could not be noted`)
}
