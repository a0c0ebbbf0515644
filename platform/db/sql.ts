// Fragments of SQL that several tables share.
import type { Transaction } from './db.js'

/** A timestamptz column as RFC 3339 UTC with milliseconds, the format of hashes and answers. */
export function utc(column: string, alias = column.replace(/^.*\./, '')): string {
  return `${utcText(column)} as ${alias}`
}

/** Like `utc`, as an expression without an alias. */
export function utcText(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}

/** One array per column, for an insert through `unnest`. */
export function columnsOf<Row>(rows: readonly Row[], columns: readonly (keyof Row & string)[]): unknown[][] {
  return columns.map((column) => rows.map((row) => row[column]))
}

/** `insert into table (…) select … from unnest($from::type[], …)`: one statement for any number of rows. */
export function insertRows(table: string, columns: Readonly<Record<string, string>>, first = 1): string {
  const names = Object.keys(columns)
  const arrays = names.map((name, index) => `$${index + first}::${columns[name]}[]`)
  return `insert into ${table} (${names.join(', ')}) select * from unnest(${arrays.join(', ')})`
}

/**
 * Disables sequential scans until the transaction ends. The planner can prefer one to count most rows of an organization,
 * although other organizations have rows, or the table has grown since its last statistics.
 */
export async function readByIndex(tx: Transaction): Promise<void> {
  // The planner counts a disabled scan as so costly that it compiles the query, which takes longer than the list.
  await tx.query("select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true)")
}

/** Runs `work` as the owner of the tables in a transaction of an organization, whose role cannot write the tables of the queue. */
export async function asOwner(tx: Transaction, work: () => Promise<void>): Promise<void> {
  const [before] = await tx.query<{ role: string }>(
    `select current_setting('role') as role, set_config('role', 'none', true)`,
  )
  await work()
  // After an error the transaction is rolled back, and the role with it.
  await tx.query(`select set_config('role', $1, true)`, [before?.role])
}
