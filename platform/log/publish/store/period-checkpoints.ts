// Checkpoints as reports read them: that of a cut-off, and those of a period.
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { utc, utcText } from '../../../db/sql.js'

interface CutOffCheckpoint {
  readonly epoch: number
  readonly note: string
  readonly published_at: string
}

/** The first note for this size and root: an idle log is signed again with the same. Null when there is none. */
export async function readCutOff(
  { org_id }: Scope,
  tx: Transaction,
  size: number,
  root: string,
): Promise<CutOffCheckpoint | null> {
  const [row] = await tx.query<CutOffCheckpoint>(
    `select epoch, note, ${utc('published_at')} from checkpoints c
     where org_id = $1 and epoch = any(array(select generate_series(1, epoch) from org_log where org_id = $1))
       and size = $2 and root = $3 order by c.published_at, epoch limit 1`,
    [org_id, size, root],
  )
  return row ?? null
}

export interface PublishedCheckpoint {
  readonly size: number
  readonly root: string
  readonly published_at: string
}

export interface CheckpointKey {
  readonly epoch: number
  readonly size: number
  readonly published_at: string
}

export interface CheckpointPage {
  readonly rows: readonly PublishedCheckpoint[]
  /** All that match in the part of the table that was read. */
  readonly count: number
  /** The place of the next page; null after the last. */
  readonly next: CheckpointKey | null
}

/** The last `keep` checkpoints published in a period, among the next `limit` ones for at most `cut_off` entries, oldest first. */
export async function readPublished(
  { org_id }: Scope,
  tx: Transaction,
  { from, to, cut_off }: { readonly from: string; readonly to: string; readonly cut_off: number },
  after: CheckpointKey,
  { limit, keep }: { readonly limit: number; readonly keep: number },
): Promise<CheckpointPage> {
  const [row] = await tx.query<CheckpointPage & { read: number }>(
    `with part as materialized (
       select epoch, size, root, published_at from checkpoints
       where org_id = $1 and (epoch, size, published_at) > ($2, $3, $4::timestamptz)
       order by epoch, size, published_at limit ${limit}
     ), published as (
       select * from part where published_at >= $5 and published_at < $6 and size <= $7
     )
     select (select count(*)::int from part) as read, (select count(*)::int from published) as count,
       (select coalesce(json_agg(json_build_object('size', size, 'root', root, 'published_at', ${utcText('published_at')})
          order by epoch, size, published_at), '[]'::json)
        from (select * from published order by epoch desc, size desc, published_at desc limit ${keep}) last) as rows,
       (select json_build_object('epoch', epoch, 'size', size, 'published_at', ${utcText('published_at')})
        from part order by epoch desc, size desc, published_at desc limit 1) as next`,
    [org_id, after.epoch, after.size, after.published_at, from, to, cut_off],
  )
  const { rows = [], count = 0, next = null, read = 0 } = row ?? {}
  return { rows, count, next: read < limit ? null : next }
}

/** The published sizes above `from` and up to `to` with their roots, of an epoch: lines of JSON, `[size, root]`; null for none. */
export async function readRoots(
  { org_id }: Scope,
  tx: Transaction,
  { from, to }: { readonly from: number; readonly to: number },
  epoch: number,
): Promise<string | null> {
  const [row] = await tx.query<{ roots: string | null }>(
    `select string_agg(json_build_array(c.size, c.root)::text, E'\\n') as roots
     from (select distinct size, root from checkpoints
       where org_id = $1 and epoch = $4 and size > $2 and size <= $3) c`,
    [org_id, from, to, epoch],
  )
  return row?.roots ?? null
}
