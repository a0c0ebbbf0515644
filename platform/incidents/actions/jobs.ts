// The jobs of this room: one delivers for an action, another deletes what was delivered long ago.
import { withUnscopedTransaction } from '../../db/db.js'
import { scopeOf } from '../../db/scope.js'
import { defineJob, type Job } from '../../jobs/job.js'
import { deliverDue } from './deliver.js'
import type { SendingParts } from './parts.js'
import { deleteEndedUnscoped } from './store/all-deliveries.js'
import { deliverName } from './triggers.js'

/** Actions that one process serves at once; a receiver that does not answer holds one of them for ten seconds. */
const concurrency = 16
/** Only the database or a fault of the platform fails a run: four days are enough to repair it. */
const retries = 100
/** The time in which deliveries can be read after they have ended. */
const keptMs = 30 * 86_400_000

interface Named {
  readonly org_id: string
  readonly action_id: string
  readonly [name: string]: string
}

export function actionJobs(parts: SendingParts): Job[] {
  const { db, clock, send } = parts
  return [
    defineJob<Named>({
      name: deliverName,
      key: ({ org_id, action_id }) => `${org_id}/${action_id}`,
      isSerial: true,
      concurrency,
      timeout_seconds: 3600,
      retries,
      run: async ({ org_id, action_id }, signal) => {
        const scope = scopeOf(org_id, { kind: 'system', id: 'actions' })
        const seconds = await deliverDue(parts, scope, action_id, signal)
        if (seconds !== null)
          await send(deliverName, { org_id, action_id }, { after_seconds: Math.max(1, Math.ceil(seconds)) })
      },
    }),
    defineJob({
      name: 'delete-old-deliveries',
      schedule: '* * * * *',
      timeout_seconds: 60,
      run: () => withUnscopedTransaction(db, (tx) => deleteEndedUnscoped(tx, clock(), clock() - keptMs)),
    }),
  ]
}
