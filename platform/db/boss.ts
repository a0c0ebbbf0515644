// pg-boss on this database: its statements run in transactions of the platform, its tables are in the schema `svc_jobs`.
import PgBoss from 'pg-boss'
import { type Database, type Transaction, withUnscopedTransaction } from './db.js'

export type Boss = PgBoss
type Executor = PgBoss.Db

/** How long pg-boss keeps jobs that have ended: first among the others, then in its archive. */
const keptSeconds = 3600
const archivedDays = 1

/** A client of pg-boss without timers and workers of its own. */
export function bossOf(db: Database): Boss {
  return new PgBoss({
    db: executorOf(db),
    schema: 'svc_jobs',
    supervise: false,
    schedule: false,
    archiveCompletedAfterSeconds: keptSeconds,
    deleteAfterDays: archivedDays,
  })
}

/** Runs each statement in a transaction of its own. Rejects with UNAVAILABLE when the database is unavailable. */
export function executorOf(db: Database): Executor {
  return {
    executeSql: (text, values) => withUnscopedTransaction(db, (tx) => executorIn(tx).executeSql(text, values)),
  }
}

/** Runs statements in a transaction that runs as the owner of the tables. */
export function executorIn(tx: Transaction): Executor {
  // A text of several statements has no rows.
  return { executeSql: async (text, values) => ({ rows: (await tx.query(withoutTransaction(text), values)) ?? [] }) }
}

/** Runs `work` as the owner of the tables in a transaction of an organization, whose role cannot read the tables of jobs. */
export async function asOwner<T>(tx: Transaction, work: () => Promise<T>): Promise<T> {
  const [before] = await tx.query<{ role: string }>(
    `select current_setting('role') as role, set_config('role', 'none', true)`,
  )
  const result = await work()
  // After an error the transaction is rolled back, and the role with it.
  await tx.query(`select set_config('role', $1, true)`, [before?.role])
  return result
}

/**
 * The statements of a text without the BEGIN and COMMIT around them, which the transaction of the caller replaces: a text
 * that fails would leave its own transaction open on the connection.
 */
function withoutTransaction(text: string): string {
  return /^\s*begin\b/i.test(text) ? text.replace(/^\s*begin\s*;/i, '').replace(/\bcommit\s*;?\s*$/i, '') : text
}

const ownTables = /* sql */ `
create table if not exists svc_jobs.last_runs (
  name text primary key,
  started_at timestamptz(3) not null,
  completed_at timestamptz(3),
  failed_at timestamptz(3),
  last_error text
);
create table if not exists svc_jobs.processes (
  id text primary key,
  seen_at timestamptz(3) not null
)`

/** Creates the tables of jobs, or brings them up to date. Called under the lock of the migrations. */
export async function migrateJobTables(db: Database): Promise<void> {
  await bossOf(db).start()
  await withUnscopedTransaction(db, (tx) => tx.query(ownTables))
}
