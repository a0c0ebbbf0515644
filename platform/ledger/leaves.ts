// Leaves of the log that are not steps, such as events: their removal or change is evident. To add a type of leaf, call
// `appendLeaves` where its rows are written.
import { leafHash, recordText } from '@svc/proof'
import { isoTime, type LeafRecord } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { commitTo } from './commitments.js'
import { lockLog } from './log.js'

export interface NewLeaf {
  readonly type: LeafRecord['type']
  readonly subject_id: string
  /** The record holds one commitment per member. The names must be in canonical order. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Appends leaves to the log, in order, at `now` (ms since 1970) or at the log's last time if that is later. Returns the
 * log index of the first.
 */
export function appendLeaves(scope: Scope, tx: Transaction, now: number, leaves: readonly NewLeaf[]): Promise<number> {
  return appendLeavesAt(scope, tx, now, () => leaves)
}

/** Appends leaves whose content includes the time of their entry. */
export async function appendLeavesAt(
  scope: Scope,
  tx: Transaction,
  now: number,
  leavesAt: (received_at: string) => readonly NewLeaf[],
): Promise<number> {
  const { org_id } = scope
  // INVARIANT (order): only the holder of the lock on the `org_log` row assigns log indexes.
  const { size, last_received_at, after } = await lockLog(scope, tx)
  const received_at = isoTime(Math.max(now, last_received_at ?? 0))
  const leaves = leavesAt(received_at)
  if (leaves.length === 0) return size
  const made = leaves.map(({ type, subject_id, data }) => {
    const committed = commitTo(data)
    const record = recordText({ v: 'svc.log/1', type, org_id, received_at, subject_id, data: committed.data, after })
    return { type, subject_id, record, salts: `{${committed.salts}}`, body: `{${committed.values}}` }
  })
  await tx.query(append, [
    org_id,
    received_at,
    leaves.length,
    made.map((_, index) => size + index),
    made.map(({ type }) => type),
    made.map(({ subject_id }) => subject_id),
    made.map(({ record }) => leafHash(record)),
    made.map(({ record }) => record),
    made.map(({ salts }) => salts),
    made.map(({ body }) => body),
  ])
  return size
}

const append = `with added as (
    select * from unnest($4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[])
      as row(log_index, type, subject_id, hash, record, salts, body)
  ), records as (
    insert into log_records (org_id, log_index, received_at, type, subject_id, hash, record, salts, body)
      select $1, log_index, $2, type, subject_id, hash, record, salts, body from added
  ), leaves as (
    insert into log_leaves (org_id, log_index, received_at, type, leaf_hash)
      select $1, log_index, $2, type, hash from added
  )
  update org_log set size = size + $3, last_received_at = $2 where org_id = $1`
