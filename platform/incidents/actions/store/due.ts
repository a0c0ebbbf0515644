// What the deliveries of all organizations wait for.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'

export interface DueAction {
  readonly org_id: string
  readonly action_id: string
}

/** The enabled actions with a pending delivery whose receiver is tried before `until` (ms since 1970). */
export function dueActionsUnscoped(tx: Transaction, until: number): Promise<DueAction[]> {
  return tx.query<DueAction>(
    `select a.org_id, a.id as action_id from actions a
     where a.enabled and (a.retry_at is null or a.retry_at <= $1) and exists (
       select 1 from deliveries d where d.org_id = a.org_id and d.action_id = a.id and d.state = 'pending' and d.next_attempt_at <= $1)`,
    [isoTime(until)],
  )
}

/** Ends all claims; only for a database that no other process uses. */
export async function endClaimsUnscoped(tx: Transaction): Promise<void> {
  await tx.query(
    `update deliveries set claim = null, claimed_until = null where state = 'pending' and claimed_until is not null`,
  )
}

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
