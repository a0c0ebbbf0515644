// Pages of lists, with the total of the list.
import type { Transaction } from './db.js'
import { type Filters, readByIndex } from './sql.js'

export interface Page {
  readonly limit: number
  /** The key of the last row of the previous page. */
  readonly after: string | number | null
}

export interface Listed<T> {
  readonly rows: readonly T[]
  readonly total: number
}

/** Conditions of a list by name, from the query of a request. */
export type Filter = Readonly<Record<string, string>>

interface Listing {
  readonly table: string
  readonly columns: string
  readonly key: string
  readonly newest_first: boolean
}

/** One page in the order of the key, which is unique, so that pages neither repeat nor skip rows. */
export async function page<T>(
  tx: Transaction,
  { table, columns, key, newest_first }: Listing,
  where: Filters,
  { limit, after }: Page,
): Promise<Listed<T>> {
  await readByIndex(tx)
  const [count] = await tx.query<{ total: number }>(
    `select count(*)::int as total from ${table} where ${where.text}`,
    where.values,
  )
  where.add(`${key} ${newest_first ? '<' : '>'} ?`, after ?? undefined)
  const order = `${key} ${newest_first ? 'desc' : 'asc'}`
  const rows = await tx.query<T>(
    `select ${columns} from ${table} where ${where.text} order by ${order} limit ${limit}`,
    where.values,
  )
  return { rows, total: count?.total ?? 0 }
}
