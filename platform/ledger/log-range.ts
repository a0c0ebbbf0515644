// From times to log indexes: times never decrease with the log index, so a period is one range of log indexes.
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'

/** Log indexes from `first` up to, but not including, `end`; an absent bound does not restrict. */
export interface IndexRange {
  readonly first?: number | undefined
  readonly end?: number | undefined
}

/** The log indexes of the entries received from `from` to `to`, both inclusive. */
export async function rangeOf(
  scope: Scope,
  tx: Transaction,
  { from, to }: { readonly from?: string; readonly to?: string },
): Promise<IndexRange> {
  return {
    first: from === undefined ? undefined : await search(scope, tx, '>=', from, null),
    end: to === undefined ? undefined : await search(scope, tx, '>', to, null),
  }
}

/** The first log index below `size` whose entry was received at or after the time; else `size`. */
export function indexOfTime(scope: Scope, tx: Transaction, time: string, size: number): Promise<number> {
  return search(scope, tx, '>=', time, size)
}

/** The maximum number of entries that leave the platform at once: some gigabytes of records. */
const maxEntries = 1_000_000

/**
 * The log indexes below `size` of the entries received from `from` (inclusive) to `to` (exclusive), for a bundle or a report: a
 * report of more entries than a bundle holds could not be verified. Null: the beginning, the end. Rejects with TOO_LARGE.
 */
export async function entriesOfPeriod(
  scope: Scope,
  tx: Transaction,
  { from, to }: { readonly from: string | null; readonly to: string | null },
  size: number,
): Promise<{ readonly first: number; readonly end: number }> {
  const first = from === null ? 0 : await indexOfTime(scope, tx, from, size)
  const end = to === null ? size : Math.max(first, await indexOfTime(scope, tx, to, size))
  if (end - first <= maxEntries) return { first, end }
  const [many, remedy] =
    to === null && from !== null
      ? [`${end - first} entries were received since ${from}`, 'choose a later begin']
      : [`the period has ${end - first} entries`, 'choose a shorter one']
  throw new PlatformError('TOO_LARGE', `${many}, more than ${maxEntries}: ${remedy}`)
}

/** A binary search in the database: about 20 look-ups by key in one round trip, without an index on time. */
async function search(
  { org_id }: Scope,
  tx: Transaction,
  comparison: '>=' | '>',
  time: string,
  size: number | null,
): Promise<number> {
  const [row] = await tx.query<{ low: number }>(
    `with recursive search(low, high) as (
       select 0::bigint, coalesce($3::bigint, (select size from org_log where org_id = $1))
       union all
       select case when is_later then low else middle + 1 end, case when is_later then middle else high end
       from (
         select low, high, (low + high) / 2 as middle, coalesce((
           select l.received_at ${comparison} $2::timestamptz from log_leaves l
           where l.org_id = $1 and l.log_index = (low + high) / 2), false) as is_later
         from search where low < high
       ) probed
     )
     select low from search where low >= high`,
    [org_id, time, size],
  )
  return row?.low ?? 0
}
