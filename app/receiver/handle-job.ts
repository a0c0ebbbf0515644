// Handles stored deliveries, at least once each: the job of a delivery is stored with it.
import { type Database, defineJob, type Job, withUnscopedTransaction } from '@svc/platform'
import type { Members } from '../github/members.js'
import {
  beginDeliveryUnscoped,
  deleteDeliveriesUnscoped,
  endDeliveryUnscoped,
  failDeliveryUnscoped,
} from './deliveries-store.js'
import { payloadIn } from './delivery.js'

export const handleName = 'handle-github-delivery'

export interface Received {
  /** The GUID of the delivery. */
  readonly id: string
  readonly event: string
  readonly payload: Members
}

interface HandlingParts {
  readonly db: Database
  readonly clock: () => number
  /** Runs the handlers of an event. A rejection is a failed attempt. */
  readonly handle: (received: Received) => Promise<void>
}

interface Named {
  readonly delivery_id: string
  readonly [name: string]: string
}

const concurrency = 4
const keptMs = 30 * 24 * 3600_000

export function deliveryJobs(parts: HandlingParts): Job[] {
  const { db, clock } = parts
  return [
    defineJob<Named>({
      name: handleName,
      key: ({ delivery_id }) => delivery_id,
      concurrency,
      // Handlers only send jobs.
      timeout_seconds: 30,
      retries: 5,
      run: ({ delivery_id }) => handleDelivery(parts, delivery_id),
    }),
    defineJob({
      name: 'delete-github-deliveries',
      schedule: '23 3 * * *',
      timeout_seconds: 300,
      run: () => withUnscopedTransaction(db, (tx) => deleteDeliveriesUnscoped(tx, clock() - keptMs)),
    }),
  ]
}

async function handleDelivery({ db, clock, handle }: HandlingParts, delivery_id: string): Promise<void> {
  const stored = await withUnscopedTransaction(db, (tx) => beginDeliveryUnscoped(tx, delivery_id))
  if (stored === null) return
  try {
    await handle({ id: delivery_id, event: stored.event, payload: payloadIn(stored.body) })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    await withUnscopedTransaction(db, (tx) => failDeliveryUnscoped(tx, clock(), delivery_id, message))
    throw error
  }
  await withUnscopedTransaction(db, (tx) => endDeliveryUnscoped(tx, clock(), delivery_id))
}
