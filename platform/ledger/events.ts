// The audit trail: one row per change, written in the transaction of the change and never altered. Each event is a leaf of the log.
import type { Transaction } from '../db/db.js'
import { newId } from '../db/ids.js'
import type { Scope } from '../db/scope.js'
import { appendLeavesAt } from './leaves.js'

interface NewEvent {
  readonly kind: string
  readonly subject_kind: string
  readonly subject_id: string
  readonly data: Readonly<Record<string, unknown>>
  /** Members of `data` that only the leaf holds as they are here, because lists show the others. */
  readonly in_leaf?: Readonly<Record<string, unknown>>
}

/**
 * Records events of the scope's actor at `now` (ms since 1970), or at the log's last time if that is later: lists are
 * ordered by log index, and times never decrease in that order.
 */
export async function recordEvents(
  scope: Scope,
  tx: Transaction,
  now: number,
  events: readonly NewEvent[],
): Promise<void> {
  if (events.length === 0) return
  const { org_id, actor } = scope
  const rows = events.map((event) => ({ id: newId('evt', now), ...event }))
  let at = ''
  const first = await appendLeavesAt(scope, tx, now, (received_at) => {
    at = received_at
    return rows.map(({ in_leaf, ...row }) => {
      const event = { at, actor, ...row, data: { ...row.data, ...in_leaf } }
      return { type: 'event', subject_id: row.id, data: { event } }
    })
  })
  await tx.query(
    `insert into events (org_id, at, actor_kind, actor_id, log_index, id, kind, subject_kind, subject_id, data)
     select $1, $2, $3, $4, u.log_index, u.id, u.kind, u.subject_kind, u.subject_id, u.data
     from unnest($5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::jsonb[])
       as u(log_index, id, kind, subject_kind, subject_id, data)`,
    [
      org_id,
      at,
      actor.kind,
      actor.id,
      rows.map((_, index) => first + index),
      rows.map((event) => event.id),
      rows.map((event) => event.kind),
      rows.map((event) => event.subject_kind),
      rows.map((event) => event.subject_id),
      rows.map((event) => JSON.stringify(event.data)),
    ],
  )
  for (const { kind, data } of rows) tx.count(kind === 'incident.opened' ? `${kind} ${data.severity}` : kind)
}
