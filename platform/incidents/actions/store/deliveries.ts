// Deliveries as people read and change them, and how they begin.
import { type Delivery, isoTime } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { columnsOf, utc, utcText } from '../../../db/sql.js'

export interface NewDelivery {
  readonly id: string
  readonly action_id: string
  readonly type: string
  readonly subject_kind: string
  readonly subject_id: string
  readonly once: string | null
  readonly body: string
}

/**
 * Adds deliveries in this order, due at `now` (ms since 1970); returns the actions of those that are new. The log must be locked,
 * so that positions are in the order of commits.
 */
export async function insertDeliveries(
  scope: Scope,
  tx: Transaction,
  now: number,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  const rows = await tx.query<{ action_id: string }>(
    `insert into deliveries (org_id, position, id, action_id, type, subject_kind, subject_id, once, body, state, created_at,
       next_attempt_at)
     select $1, coalesce((select max(position) from deliveries where org_id = $1), 0) + d.number, d.id, d.action_id, d.type,
       d.subject_kind, d.subject_id, d.once, d.body, 'pending', $2, $2
     from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[])
       with ordinality as d(id, action_id, type, subject_kind, subject_id, once, body, number)
     on conflict (org_id, action_id, once) where once is not null do nothing
     returning action_id`,
    [
      scope.org_id,
      isoTime(now),
      ...columnsOf(deliveries, ['id', 'action_id', 'type', 'subject_kind', 'subject_id', 'once', 'body']),
    ],
  )
  return [...new Set(rows.map(({ action_id }) => action_id))]
}

/** The next attempt waits for the receiver as well. */
const nextAttempt = `case when state = 'pending' then greatest(next_attempt_at,
  (select a.retry_at from actions a where a.org_id = deliveries.org_id and a.id = deliveries.action_id)) end`

const columns = `id, position, action_id, type, subject_kind, subject_id, state, attempts, ${utc('created_at')},
  ${utcText(nextAttempt)} as next_attempt_at, ${utc('last_attempt_at')}, ${utc('ended_at')}, response_status, error`

export interface PlacedDelivery extends Delivery {
  readonly position: number
}

export function listDeliveries(
  scope: Scope,
  tx: Transaction,
  action_id: string,
  filter: Filter,
  at: Page,
): Promise<Listed<PlacedDelivery>> {
  const deliveries = rowsOf(scope, 'deliveries')
    .where({ action_id })
    .where(equal({ state: filter.state }))
  return page<PlacedDelivery>(tx, deliveries, { columns, key: 'position', newest_first: true }, at)
}

/** With its body; null for an unknown one. */
export async function findDelivery(scope: Scope, tx: Transaction, id: string): Promise<PlacedDelivery | null> {
  const text = `select ${columns}, body from deliveries where org_id = $1 and id = $2`
  const [delivery] = await tx.query<PlacedDelivery>(text, [scope.org_id, id])
  return delivery ?? null
}

/** Makes a delivery that has ended pending again, due at `now`; false when it has not ended. */
export async function reviveDelivery(scope: Scope, tx: Transaction, now: number, id: string): Promise<boolean> {
  const rows = await tx.query(
    `update deliveries set state = 'pending', attempts = 0, next_attempt_at = $3, give_up_at = null, ended_at = null,
       error = null
     where org_id = $1 and id = $2 and state in ('delivered', 'dead') returning id`,
    [scope.org_id, id, isoTime(now)],
  )
  return rows.length > 0
}

/** Cancels the pending deliveries of an action; returns how many. */
export async function cancelDeliveries(scope: Scope, tx: Transaction, now: number, action_id: string): Promise<number> {
  const rows = await tx.query(
    `update deliveries set state = 'cancelled', ended_at = $3, error = 'the action was deleted'
     where org_id = $1 and action_id = $2 and state = 'pending' returning id`,
    [scope.org_id, action_id, isoTime(now)],
  )
  return rows.length
}
