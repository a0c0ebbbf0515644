// Attempts to guess secrets, counted for all processes of a database: a token bucket per caller.

import { createHash } from 'node:crypto'
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../db/db.js'

export interface CountedLimit {
  readonly name: string
  /** Capacity of the bucket. */
  readonly count: number
  /** Seconds in which an empty bucket fills. */
  readonly seconds: number
}

/** Counts an attempt in one statement that locks one row. Returns 0 if it is allowed, else the ms to wait. */
export async function countAttemptUnscoped(
  tx: Transaction,
  now: number,
  { name, count, seconds }: CountedLimit,
  caller: string,
): Promise<number> {
  // Clocks of processes differ: a time before the last one does not fill the bucket.
  const refilled = `least($3::float8, known.remaining
    + greatest(0, extract(epoch from excluded.counted_at - known.counted_at)) * $3::float8 / $4::float8)`
  const [row] = await tx.query<{ remaining: number; was_allowed: boolean }>(
    `insert into svc_attempts as known (limit_name, asker, remaining, was_allowed, counted_at)
     values ($1, $2, $3::float8 - 1, true, $5)
     on conflict (limit_name, asker) do update set
       remaining = ${refilled} - case when ${refilled} >= 1 then 1 else 0 end,
       was_allowed = ${refilled} >= 1,
       counted_at = greatest(known.counted_at, excluded.counted_at)
     returning remaining, was_allowed`,
    [name, callerHash(caller), count, seconds, isoTime(now)],
  )
  if (row === undefined || row.was_allowed) return 0
  return Math.ceil(((1 - row.remaining) * seconds * 1000) / count)
}

/** Deletes callers without an attempt since `before` (ms since 1970); rows that are locked stay until the next time. */
export async function forgetAttemptsUnscoped(tx: Transaction, before: number): Promise<void> {
  await tx.query(
    `delete from svc_attempts where (limit_name, asker) in (
       select limit_name, asker from svc_attempts where counted_at < $1 limit ${maxDeleted} for update skip locked)`,
    [isoTime(before)],
  )
}

const maxDeleted = 10_000

/** Mailboxes and network addresses are personal data: a hash suffices to count them. */
function callerHash(caller: string): Buffer {
  return createHash('sha256').update(caller).digest().subarray(0, 16)
}
