// How often secrets were tried, for all processes of a database together: a bucket for each asker that fills again with time.
import { createHash } from 'node:crypto'
import type { Transaction } from '../db/db.js'

export interface CountedLimit {
  readonly name: string
  /** How many at once. */
  readonly count: number
  /** In how many seconds an empty bucket is full again. */
  readonly seconds: number
}

/** Counts an attempt in one statement that locks one row; ms to wait where it is one too many, 0 where it is allowed. */
export async function countAttemptUnscoped(
  tx: Transaction,
  now: number,
  { name, count, seconds }: CountedLimit,
  asker: string,
): Promise<number> {
  // The clocks of two processes may differ: a time before the last one fills nothing.
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
    [name, askerHash(asker), count, seconds, new Date(now).toISOString()],
  )
  if (row === undefined || row.was_allowed) return 0
  return Math.ceil(((1 - row.remaining) * seconds * 1000) / count)
}

/** Forgets askers that were silent since `before`, ms since 1970; rows that somebody is counting on are left for the next time. */
export async function forgetAttemptsUnscoped(tx: Transaction, before: number): Promise<void> {
  await tx.query(
    `delete from svc_attempts where (limit_name, asker) in (
       select limit_name, asker from svc_attempts where counted_at < $1 limit ${mostForgotten} for update skip locked)`,
    [new Date(before).toISOString()],
  )
}

const mostForgotten = 10_000

/** Mailboxes and network addresses are personal data: their hash is enough to count them. */
function askerHash(asker: string): Buffer {
  return createHash('sha256').update(asker).digest().subarray(0, 16)
}
