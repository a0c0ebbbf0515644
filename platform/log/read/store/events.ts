// Lists of the audit trail.
import type { AuditEvent } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Filter, Listed, Page } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { type Filters, filters, namesFrom, readByIndex, utc } from '../../../db/sql.js'
import { type IndexRange, rangeOf } from '../../../ledger/log-range.js'

const eventColumns = `e.id, e.log_index, ${utc('e.at')}, e.kind, e.actor_kind, e.actor_id, e.subject_kind, e.subject_id, e.data`

/** A page, latest first. A `kind` that ends in a dot is the beginning of kinds. */
export async function listEvents(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<AuditEvent>> {
  await readByIndex(tx)
  const range = await rangeOf(scope, tx, filter)
  const total = await countEvents(scope, tx, filter, range)
  const last = Math.min(range.end ?? Infinity, at.after === null ? Infinity : Number(at.after))
  const page = Number.isFinite(last) ? { ...range, end: last } : range
  const kinds = isBeginning(filter.kind) ? await kindsFrom(scope, tx, filter.kind) : [filter.kind]
  // One index look-up for each kind: together they are read in the order of the log only up to the page.
  const found: AuditEvent[] = []
  for (const kind of kinds) found.push(...(await newest(scope, tx, { ...filter, kind }, page, at.limit)))
  const rows = found.sort((a, b) => b.log_index - a.log_index).slice(0, at.limit)
  return { rows, total }
}

type EventFilter = Readonly<Record<string, string | undefined>>

function newest(scope: Scope, tx: Transaction, filter: EventFilter, range: IndexRange, limit: number) {
  const where = conditions(scope, filter, range)
  return tx.query<AuditEvent>(
    `select ${eventColumns} from events e where ${where.text} order by e.log_index desc limit ${limit}`,
    where.values,
  )
}

function isBeginning(kind: string | undefined): kind is string {
  return kind?.endsWith('.') === true
}

function conditions({ org_id }: Scope, { kind, actor, subject }: EventFilter, range: IndexRange): Filters {
  return withKind(filters([org_id], 'e.org_id = $1'), kind)
    .add('e.actor_id = ?', actor)
    .add('e.subject_id = ?', subject)
    .addRange('e.log_index', range)
}

function withKind(where: Filters, kind: string | undefined): Filters {
  return isBeginning(kind) ? where.addRange('e.kind collate "C"', namesFrom(kind)) : where.add('e.kind = ?', kind)
}

/** The kinds of the organization's events that begin with the text; they are few. */
async function kindsFrom({ org_id }: Scope, tx: Transaction, beginning: string): Promise<string[]> {
  const where = withKind(filters([org_id], 'e.org_id = $1'), beginning)
  const rows = await tx.query<{ kind: string }>(
    `select distinct e.kind from event_counts e where ${where.text}`,
    where.values,
  )
  return rows.map(({ kind }) => kind)
}

/** The log indexes that one row of `event_counts` covers, as in its migration. */
const bucketSize = 4096

/** Exact: whole buckets are counted already, and the events at the ends of the range are counted with an index. */
async function countEvents(scope: Scope, tx: Transaction, filter: EventFilter, range: IndexRange): Promise<number> {
  if (filter.subject !== undefined) return countIn(scope, tx, filter, range)
  const { first = 0, end = Infinity } = range
  const [low, high] = [Math.ceil(first / bucketSize), Math.floor(end / bucketSize)]
  if (high < low) return countIn(scope, tx, filter, range)
  const before = first === low * bucketSize ? 0 : await countIn(scope, tx, filter, { first, end: low * bucketSize })
  const after = Number.isFinite(end) ? await countIn(scope, tx, filter, { first: high * bucketSize, end }) : 0
  const where = withKind(filters([scope.org_id], 'e.org_id = $1'), filter.kind)
    .add('e.actor_id = ?', filter.actor)
    .addRange('e.bucket', { first: low, end: Number.isFinite(high) ? high : undefined })
  const [row] = await tx.query<{ total: number }>(
    `select coalesce(sum(e.events), 0)::float8 as total from event_counts e where ${where.text}`,
    where.values,
  )
  return before + (row?.total ?? 0) + after
}

async function countIn(scope: Scope, tx: Transaction, filter: EventFilter, range: IndexRange): Promise<number> {
  const where = conditions(scope, filter, range)
  const [row] = await tx.query<{ total: number }>(
    `select count(*)::int as total from events e where ${where.text}`,
    where.values,
  )
  return row?.total ?? 0
}
