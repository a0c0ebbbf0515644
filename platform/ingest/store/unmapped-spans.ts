// Spans that are not acts of an agent, counted by what they have in common.
import { isoTime, type UnmappedSpan } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { type Filter, type Listed, type Page, page, rowsOf, total } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows, utc } from '../../db/sql.js'

export interface CountedSpans extends Omit<UnmappedSpan, 'id' | 'first_seen' | 'last_seen'> {
  readonly digest: Buffer
}

/** Rows of an organization; spans with other names are counted together. */
const maxRows = 1_000

const columns = {
  org_id: 'text',
  digest: 'bytea',
  api_key_id: 'text',
  service: 'text',
  scope: 'text',
  name: 'text',
  kind: 'text',
  count: 'bigint',
  first_seen: 'timestamptz',
  last_seen: 'timestamptz',
  trace_id: 'text',
  span_id: 'text',
}

/** Adds the counts to the rows that are known, and new rows while there is room; the others go to the row `other`. */
export async function countUnmapped(scope: Scope, tx: Transaction, now: number, counted: readonly CountedSpans[]) {
  if (counted.length === 0) return
  // In one order, so that requests with the same spans wait for each other.
  const sorted = counted.toSorted((a, b) => Buffer.compare(a.digest, b.digest))
  const known = await knownDigests(scope, tx, sorted)
  const isKnown = ({ digest }: CountedSpans) => known.has(digest.toString('hex'))
  const fresh = sorted.filter((row) => !isKnown(row))
  const room = fresh.length === 0 ? 0 : await roomIn(scope, tx)
  const others = fresh.slice(room).reduce((sum, { count }) => sum + count, 0)
  await addCounts(scope, tx, now, [
    ...sorted.filter(isKnown),
    ...fresh.slice(0, room),
    ...(others === 0 ? [] : [{ ...other, count: others }]),
  ])
}

const other: Omit<CountedSpans, 'count'> = {
  digest: Buffer.from('other'),
  api_key_id: null,
  service: null,
  scope: null,
  name: 'other',
  kind: null,
  trace_id: null,
  span_id: null,
}

async function knownDigests({ org_id }: Scope, tx: Transaction, rows: readonly CountedSpans[]) {
  const found = await tx.query<{ digest: Buffer }>(
    'select digest from unmapped_spans where org_id = $1 and digest = any($2::bytea[]) order by digest for update',
    [org_id, rows.map(({ digest }) => digest)],
  )
  return new Set(found.map(({ digest }) => digest.toString('hex')))
}

async function roomIn(scope: Scope, tx: Transaction): Promise<number> {
  return Math.max(0, maxRows - 1 - (await total(tx, rowsOf(scope, 'unmapped_spans'))))
}

async function addCounts({ org_id }: Scope, tx: Transaction, now: number, rows: readonly CountedSpans[]) {
  const at = isoTime(now)
  const values = rows.map((row) => ({ org_id, first_seen: at, last_seen: at, ...row }))
  const names = Object.keys(columns) as (keyof typeof columns)[]
  await tx.query(
    `${insertRows('unmapped_spans', columns)} on conflict (org_id, digest) do update set
       count = unmapped_spans.count + excluded.count, last_seen = greatest(unmapped_spans.last_seen, excluded.last_seen)`,
    columnsOf(values, names),
  )
}

/** The rows in the order in which their first spans arrived. */
export function listUnmapped(scope: Scope, tx: Transaction, _filter: Filter, at: Page): Promise<Listed<UnmappedSpan>> {
  const order = {
    columns: `id, api_key_id, service, scope, name, kind, count, ${utc('first_seen')}, ${utc('last_seen')}, trace_id, span_id`,
    key: 'id',
    newest_first: false,
  }
  return page<UnmappedSpan>(tx, rowsOf(scope, 'unmapped_spans'), order, at)
}
