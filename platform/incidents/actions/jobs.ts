// The jobs of this room: one delivers for an action, another finds what is due, also after a crash.
import { withUnscopedTransaction } from '../../db/db.js'
import { scopeOf } from '../../db/scope.js'
import { defineJob, type Job } from '../../jobs/job.js'
import { deliverDue } from './deliver.js'
import type { SendingParts } from './parts.js'
import { deleteEndedUnscoped, dueActionsUnscoped, endClaimsUnscoped } from './store/due.js'
import { deliverName } from './triggers.js'

/** Actions that one process serves at once; a receiver that does not answer holds one of them for ten seconds. */
const concurrency = 16
/** The timer looks for deliveries that are due within the next minute. */
const aheadMs = 60_000
/** How long deliveries can be read after they have ended. */
const keptMs = 30 * 86_400_000

interface Named {
  readonly org_id: string
  readonly action_id: string
  readonly [name: string]: string
}

export function actionJobs(parts: SendingParts): Job[] {
  return [
    defineJob<Named>({
      name: deliverName,
      key: ({ org_id, action_id }) => `${org_id}/${action_id}`,
      concurrency,
      timeout_seconds: 3600,
      run: async ({ org_id, action_id }, signal) => {
        const scope = scopeOf(org_id, { kind: 'system', id: 'actions' })
        const seconds = await deliverDue(parts, scope, action_id, signal)
        if (seconds !== null)
          await parts.send(deliverName, { org_id, action_id }, { after_seconds: Math.max(1, Math.ceil(seconds)) })
      },
    }),
    defineJob({
      name: 'find-due-deliveries',
      schedule: '* * * * *',
      at_start_seconds: 0,
      timeout_seconds: 60,
      run: () => findDue(parts),
    }),
  ]
}

async function findDue({ db, clock, send }: SendingParts): Promise<void> {
  const now = clock()
  await withUnscopedTransaction(db, (tx) => deleteEndedUnscoped(tx, now, now - keptMs))
  const due = await withUnscopedTransaction(db, (tx) => dueActionsUnscoped(tx, now + aheadMs))
  for (const { org_id, action_id } of due) await send(deliverName, { org_id, action_id })
}

/** Work of the start: lets deliveries that a killed process had claimed begin again. */
export async function startActions({ db }: SendingParts): Promise<void> {
  // No other process uses an embedded database. On a server, claims end.
  if (db.kind === 'pglite') await withUnscopedTransaction(db, endClaimsUnscoped)
}
