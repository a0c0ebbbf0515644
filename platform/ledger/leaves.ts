// What is in the log besides steps: a leaf each, so that it can be neither removed nor rewritten without being seen.
// A kind of leaf is added by calling `appendLeaves` where its rows are written.
import { leafHash, recordText } from '@svc/proof'
import type { LeafRecord } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { seal } from './commitments.js'
import { lockLog } from './log.js'

export interface NewLeaf {
  readonly type: LeafRecord['type']
  readonly subject_id: string
  /** Enters the record as one commitment each: nothing of it can be read from the tree. Names in canonical order. */
  readonly data: Readonly<Record<string, unknown>>
}

/**
 * Adds leaves at the end of the log, in order, at `now` (ms since 1970) or the log's last time if that is later. Returns
 * the log index of the first.
 */
export function appendLeaves(scope: Scope, tx: Transaction, now: number, leaves: readonly NewLeaf[]): Promise<number> {
  return appendLeavesAt(scope, tx, now, () => leaves)
}

/** The same for leaves whose content names the time at which they are added. */
export async function appendLeavesAt(
  scope: Scope,
  tx: Transaction,
  now: number,
  leavesAt: (received_at: string) => readonly NewLeaf[],
): Promise<number> {
  const { org_id } = scope
  // INVARIANT (order): as for steps, only the holder of the log row's lock gives out places.
  const { size, last_received_at, after } = await lockLog(scope, tx)
  const received_at = new Date(Math.max(now, last_received_at ?? 0)).toISOString()
  const leaves = leavesAt(received_at)
  if (leaves.length === 0) return size
  const made = leaves.map(({ type, subject_id, data }) => {
    const sealed = seal(data)
    const record = recordText({ v: 'svc.log/1', type, org_id, received_at, subject_id, data: sealed.data, after })
    return { type, subject_id, record, salts: `{${sealed.salts}}`, body: `{${sealed.values}}` }
  })
  await tx.query(append, [
    ...[org_id, received_at, leaves.length],
    ...[made.map((_, index) => size + index), made.map(({ type }) => type), made.map(({ subject_id }) => subject_id)],
    ...[made.map(({ record }) => leafHash(record)), made.map(({ record }) => record)],
    ...[made.map(({ salts }) => salts), made.map(({ body }) => body)],
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
