// Lists of the audit trail.
import type { AuditEvent } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import {
  beginning,
  type Condition,
  equal,
  type Filter,
  type List,
  type Listed,
  type Page,
  raw,
  read,
  rowsOf,
  total,
  within,
} from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { readByIndex, utc } from '../../../db/sql.js'
import { type IndexRange, rangeOf } from '../../../ledger/log-range.js'

const eventColumns = `e.id, e.log_index, ${utc('e.at')}, e.kind, e.actor_kind, e.actor_id, e.subject_kind, e.subject_id, e.data`

/** A page, latest first. A `kind` that ends in a dot is the beginning of kinds. */
export async function listEvents(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<AuditEvent>> {
  await readByIndex(tx)
  const range = await rangeOf(scope, tx, filter)
  const all = await countEvents(scope, tx, filter, range)
  const last = Math.min(range.end ?? Infinity, at.after === null ? Infinity : Number(at.after))
  const page = Number.isFinite(last) ? { ...range, end: last } : range
  const kinds = isBeginning(filter.kind) ? await kindsFrom(scope, tx, filter.kind) : [filter.kind]
  // One index look-up for each kind: together they are read in the order of the log only up to the page.
  const found: AuditEvent[] = []
  for (const kind of kinds) found.push(...(await newest(scope, tx, { ...filter, kind }, page, at.limit)))
  const rows = found.sort((a, b) => b.log_index - a.log_index).slice(0, at.limit)
  return { rows, total: all }
}

type EventFilter = Readonly<Record<string, string | undefined>>

function newest(scope: Scope, tx: Transaction, filter: EventFilter, range: IndexRange, limit: number) {
  const events = matching(scope, filter, range).orderBy('log_index', 'desc').limit(limit)
  return read<AuditEvent>(tx, events.select(raw(eventColumns)))
}

function isBeginning(kind: string | undefined): kind is string {
  return kind?.endsWith('.') === true
}

function matching(scope: Scope, { kind, actor, subject }: EventFilter, range: IndexRange): List {
  return rowsOf(scope, 'events e')
    .where(ofKind(kind))
    .where(equal({ actor_id: actor, subject_id: subject }))
    .where(within('log_index', range))
}

function ofKind(kind: string | undefined): Condition {
  return isBeginning(kind) ? beginning('kind', kind) : equal({ kind })
}

/** The kinds of the organization's events that begin with the text; they are few. */
async function kindsFrom(scope: Scope, tx: Transaction, kind: string): Promise<string[]> {
  const rows = await read<{ kind: string }>(tx, rowsOf(scope, 'event_counts').where(ofKind(kind)).distinct('kind'))
  return rows.map(({ kind }) => kind)
}

/** The log indexes that one row of `event_counts` covers, as in its migration. */
const bucketSize = 4096

/** Exact: whole buckets are counted already, and the events at the ends of the range are counted with an index. */
async function countEvents(scope: Scope, tx: Transaction, filter: EventFilter, range: IndexRange): Promise<number> {
  const counted = (part: IndexRange) => total(tx, matching(scope, filter, part))
  if (filter.subject !== undefined) return counted(range)
  const { first = 0, end = Infinity } = range
  const [low, high] = [Math.ceil(first / bucketSize), Math.floor(end / bucketSize)]
  if (high < low) return counted(range)
  const before = first === low * bucketSize ? 0 : await counted({ first, end: low * bucketSize })
  const after = Number.isFinite(end) ? await counted({ first: high * bucketSize, end }) : 0
  const buckets = rowsOf(scope, 'event_counts')
    .where(ofKind(filter.kind))
    .where(equal({ actor_id: filter.actor }))
    .where(within('bucket', { first: low, end: Number.isFinite(high) ? high : undefined }))
  return before + (await total(tx, buckets, 'sum(events)')) + after
}
