// Puts the parts of this room together.
import { withUnscopedTransaction } from '../../db/db.js'
import { gauge, type MetricSource } from '../../http/exposition.js'
import { createLimit } from '../../http/limits.js'
import type { Job } from '../../jobs/job.js'
import { actionJobs } from './jobs.js'
import type { ActionParts } from './parts.js'
import { deliveryStatesUnscoped } from './store/all-deliveries.js'

export interface ActionRoom {
  readonly jobs: readonly Job[]
  readonly parts: ActionParts
  readonly metrics: MetricSource
}

export type RoomParts = Omit<ActionParts, 'random' | 'tests'>

/** A person who sets up a receiver needs a few; a scanner of ports or a sender of unwanted mails would need thousands. */
const testsPerMinute = 20

export function openActions(given: RoomParts): ActionRoom {
  const parts = { ...given, random: Math.random, tests: createLimit(testsPerMinute, 60, given.clock) }
  return {
    jobs: actionJobs(parts),
    parts,
    metrics: async () => {
      const { pending, dead } = await withUnscopedTransaction(given.db, deliveryStatesUnscoped)
      return [
        gauge(
          'svc_deliveries_pending',
          'Deliveries of actions that wait or are tried again, of all processes.',
          pending,
        ),
        gauge('svc_deliveries_dead', 'Deliveries that were given up in the last 30 days.', dead),
      ]
    },
  }
}
