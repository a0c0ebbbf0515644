// Lists with filters: the rows of an organization as a query of Knex, which a transaction runs.
import knexModule, { type Knex } from 'knex'
import { invalid } from '../errors.js'
import type { Transaction } from './db.js'
import type { Scope } from './scope.js'
import { readByIndex } from './sql.js'

/** A query that takes further conditions. Only `read`, `total` and `page` run it: to await it rejects. */
export type List = Knex.QueryBuilder

/** One or several conditions, for `where` of a list. */
export type Condition = Knex.QueryCallback

/** Values of a list by the name of the filter, from the query of a request. */
export type Filter = Readonly<Record<string, string>>

export interface Page {
  readonly limit: number
  /** The key of the last row of the previous page. */
  readonly after: string | number | null
}

export interface Listed<T> {
  readonly rows: readonly T[]
  readonly total: number
  /** Those of the row that the query names in `around`. */
  readonly neighbours?: Neighbours | undefined
}

/** The ids of the rows before and after a row in the order of a list; null at its ends. */
export interface Neighbours {
  readonly previous: string | null
  readonly next: string | null
}

/** Without a connection. */
const knex = knexModule.knex({ client: 'pg' })

/** The rows of the organization in a table: `agents`, `agents a`, or one with others that are joined to it. */
export function rowsOf({ org_id }: Scope, tables: string): List {
  const [name, alias = name] = tables.split(' ')
  return knex(raw(tables)).where(`${alias}.org_id`, org_id)
}

/** SQL as it is written; `?` stands for a value or a query, so that operators with a question mark are written `\\?`. */
export function raw(text: string, values: readonly Knex.RawBinding[] = []): Knex.Raw {
  return knex.raw(text, values)
}

/** Columns that have these values; a column whose value is undefined may have any. */
export function equal(values: Readonly<Record<string, string | number | undefined>>): Condition {
  return (list) => {
    for (const [column, value] of Object.entries(values)) if (value !== undefined) list.where(column, value)
  }
}

/** A column that has one of the values of a text with commas, if it is given. */
export function among(column: string, text: string | undefined): Condition {
  return (list) => {
    if (text !== undefined) list.whereIn(column, text.split(','))
  }
}

export interface Range {
  readonly first?: string | number | undefined
  readonly end?: string | number | undefined
}

/** A column of at least `first` and below `end`, if they are given. */
export function within(column: string, { first, end }: Range): Condition {
  return (list) => {
    if (first !== undefined) list.where(column, '>=', first)
    if (end !== undefined) list.where(column, '<', end)
  }
}

/** Names that begin with the text, if it is given, as a range of bytes: names are printable ASCII, which is below DEL. */
export function beginning(column: string, text: string | undefined): Condition {
  return (list) => {
    if (text !== undefined)
      list.whereRaw(`${column} collate "C" >= ? and ${column} collate "C" < ?`, [text, `${text}\x7f`])
  }
}

export function read<Row>(tx: Transaction, query: List | Knex.Raw): Promise<Row[]> {
  const { sql, bindings } = query.toSQL().toNative()
  return tx.query<Row>(sql, bindings)
}

/** The number of rows, or another number that they have together, such as `sum(events)`. */
export async function total(tx: Transaction, list: List, of = 'count(*)'): Promise<number> {
  const [row] = await read<{ total: number }>(tx, list.clone().select(raw(`coalesce(${of}, 0)::float8 as total`)))
  return row?.total ?? 0
}

interface Order {
  readonly columns: string
  readonly key: string
  readonly newest_first: boolean
}

/** One page in the order of the key, which is unique, so that pages neither repeat nor skip rows. */
export async function page<T>(
  tx: Transaction,
  list: List,
  { columns, key, newest_first }: Order,
  { limit, after }: Page,
): Promise<Listed<T>> {
  await readByIndex(tx)
  const all = await total(tx, list)
  if (all === 0 || limit === 0) return { rows: [], total: all }
  if (after !== null) list.where(key, newest_first ? '<' : '>', after)
  const rows = list.orderBy(key, newest_first ? 'desc' : 'asc').limit(limit)
  return { rows: await read<T>(tx, rows.select(raw(columns))), total: all }
}

interface Keyed {
  readonly table: string
  readonly id: string
  /** A number that is unique in the organization; the list is in its descending order. */
  readonly key: string
}

/**
 * The rows of a list next to the row with an id, which the list itself need not contain. The list is read by its key in the
 * index that orders it, and rows of the table only for the answer. Throws INVALID for an unknown id.
 */
export async function neighbours(
  scope: Scope,
  tx: Transaction,
  list: List,
  { table, id, key }: Keyed,
  around: string,
): Promise<Neighbours> {
  const [row] = await read<{ at: number }>(
    tx,
    rowsOf(scope, table)
      .where(id, around)
      .select(raw(`${key} as at`)),
  )
  if (row === undefined)
    throw invalid([{ path: 'around', message: `is unknown: use the \`${id}\` of a row of this list` }])
  const next = list.clone().where(key, '<', row.at).orderBy(key, 'desc')
  const previous = list.clone().where(key, '>', row.at).orderBy(key, 'asc')
  const idOf = (found: List) =>
    rowsOf(scope, table)
      .whereRaw(`${key} = ?`, [found.select(key).limit(1)])
      .select(id)
  const [found] = await read<Neighbours>(tx, raw('select ? as previous, ? as next', [idOf(previous), idOf(next)]))
  return found ?? { previous: null, next: null }
}
