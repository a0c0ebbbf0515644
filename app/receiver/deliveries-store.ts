// Deliveries of the webhook. They belong to no organization: which one a delivery concerns is known when it is handled.
import type { Transaction } from '@svc/platform'
import { isoTime } from '@svc/schemas'

export interface NewDelivery {
  readonly delivery_id: string
  readonly event: string
  readonly action: string | null
  readonly installation_id: number | null
  readonly body: Uint8Array
}

/** Returns false for a delivery that is known already. `now` in ms since 1970. */
export async function insertDeliveryUnscoped(tx: Transaction, now: number, delivery: NewDelivery): Promise<boolean> {
  const { delivery_id, event, action, installation_id, body } = delivery
  const rows = await tx.query(
    `insert into github_deliveries (delivery_id, event, action, installation_id, body, status, received_at)
     values ($1, $2, $3, $4, $5, 'waiting', $6) on conflict (delivery_id) do nothing returning 1`,
    [delivery_id, event, action, installation_id, Buffer.from(body), isoTime(now)],
  )
  return rows.length > 0
}

/** Lets a delivery that failed wait again, with the body that was sent now. Returns false for one that has not failed. */
export async function repeatDeliveryUnscoped(
  tx: Transaction,
  { delivery_id, body }: Pick<NewDelivery, 'delivery_id' | 'body'>,
): Promise<boolean> {
  const rows = await tx.query(
    `update github_deliveries set status = 'waiting', body = $2, error = null
     where delivery_id = $1 and status = 'failed' returning 1`,
    [delivery_id, Buffer.from(body)],
  )
  return rows.length > 0
}

/** The number of deliveries that wait, counted up to `most`. */
export async function waitingDeliveriesUnscoped(tx: Transaction, most: number): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    `select count(*)::int as count from
       (select 1 from github_deliveries where status <> 'done' and status = 'waiting' limit $1) as counted`,
    [most],
  )
  return row?.count ?? 0
}

interface StoredDelivery {
  readonly event: string
  readonly body: Uint8Array
}

/** Begins an attempt to handle a delivery; null for one that is unknown or done. */
export async function beginDeliveryUnscoped(tx: Transaction, delivery_id: string): Promise<StoredDelivery | null> {
  const [row] = await tx.query<StoredDelivery>(
    `update github_deliveries set attempts = attempts + 1
     where delivery_id = $1 and status <> 'done' and body is not null returning event, body`,
    [delivery_id],
  )
  return row ?? null
}

/** A delivery that is done keeps no body. */
export async function endDeliveryUnscoped(tx: Transaction, now: number, delivery_id: string): Promise<void> {
  await tx.query(
    `update github_deliveries set status = 'done', body = null, error = null, handled_at = $2 where delivery_id = $1`,
    [delivery_id, isoTime(now)],
  )
}

/** Records that an attempt failed; the message is cut. */
export async function failDeliveryUnscoped(
  tx: Transaction,
  now: number,
  delivery_id: string,
  error: string,
): Promise<void> {
  await tx.query(
    `update github_deliveries set status = 'failed', error = $3, handled_at = $2
     where delivery_id = $1 and status <> 'done'`,
    [delivery_id, isoTime(now), error.slice(0, 1000)],
  )
}

/** Of these deliveries, those that were received and have not failed. */
export async function receivedDeliveriesUnscoped(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ delivery_id: string }>(
    `select delivery_id from github_deliveries where delivery_id = any($1::text[]) and status <> 'failed'`,
    [ids],
  )
  return rows.map(({ delivery_id }) => delivery_id)
}

/** Deletes deliveries that were received before a time, ms since 1970. */
export async function deleteDeliveriesUnscoped(tx: Transaction, before: number): Promise<void> {
  await tx.query('delete from github_deliveries where received_at < $1', [isoTime(before)])
}
