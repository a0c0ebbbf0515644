// The deliveries of all organizations.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'

/** Deletes deliveries that ended before this time (ms since 1970), and previous secrets that no longer sign at `now`. */
export async function deleteEndedUnscoped(tx: Transaction, now: number, before: number): Promise<void> {
  await tx.query('delete from deliveries where ended_at < $1', [isoTime(before)])
  await tx.query(
    'update actions set sealed_previous_secret = null, previous_secret_until = null where previous_secret_until < $1',
    [isoTime(now)],
  )
}

/** The number of deliveries of all organizations that wait, and of those that were given up: at most 10,000 each. */
export async function deliveryStatesUnscoped(tx: Transaction): Promise<{ pending: number; dead: number }> {
  const [row] = await tx.query<{ pending: number; dead: number }>(
    `select (select count(*)::int from (select from deliveries where state = 'pending' limit 10000) p) as pending,
       (select count(*)::int from (select from deliveries where state = 'dead' limit 10000) d) as dead`,
  )
  return row ?? { pending: 0, dead: 0 }
}
