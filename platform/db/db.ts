// The database: a PostgreSQL server, or PGlite in this process. Both are used through the same driver.
import { setTimeout } from 'node:timers/promises'
import type pg from 'pg'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'
import type { ConcurrencyLimits } from './concurrency.js'
import { type Connections, type LogGate, measured } from './connections.js'
import { startEmbedded } from './embedded.js'
import { failureKind, isDriverUnavailable, isUnavailable, unavailable } from './failure.js'
import { newDatabasePath } from './new-database.js'
import { createOutage, fillPages, type Outage } from './outage.js'
import { connect, poolOf } from './pool.js'
import type { Scope } from './scope.js'

export interface Database {
  readonly pool: pg.Pool
  /** The options of the driver. */
  readonly connection: pg.ClientConfig
  readonly kind: 'pglite' | 'postgresql'
  /** Runs `work` under an advisory lock, which excludes this process and, on a server, every other process. */
  readonly exclusively: <T>(lock: number, work: () => Promise<T>) => Promise<T>
  /** Transactions of one organization wait for each other here, before they take a connection. */
  readonly withinLimit: ConcurrencyLimits
  /** The counts of the committed transactions of this process, by name. */
  readonly counts: Map<string, number>
  readonly gate: LogGate
  readonly connections: () => Connections
  readonly outage: Outage
  readonly close: () => Promise<void>
}

/** The parts of a command that changes rows: the database, and the time in ms since 1970. */
export interface Resources {
  readonly db: Database
  readonly clock: () => number
}

/** Receives messages of the driver, such as a lost connection. */
export type Remark = (message: string) => void

/** Statements of one transaction, as text: ingestion runs thousands per second. */
export interface Transaction {
  readonly query: <Row = Record<string, unknown>>(text: string, values?: readonly unknown[]) => Promise<Row[]>
  /** Runs `work` once the transaction has committed. */
  readonly afterCommit: (work: () => void) => void
  /** Adds one to the count of this name in `Database.counts` once the transaction has committed. */
  readonly count: (name: string) => void
  /** `LogGate.held` when the transaction began. */
  readonly held: string | null
}

/**
 * Opens the database that the configuration names. A new embedded one is a copy of `new_database`; null creates it empty.
 * Throws CONFLICT when the data directory is in use.
 */
export async function openDatabase(
  config: Config,
  remark: Remark = () => undefined,
  new_database: string | null = newDatabasePath(),
): Promise<Database> {
  const outage = createOutage(config, remark)
  if (config.database_url !== null) {
    const connection = { connectionString: config.database_url }
    const pool = poolOf(connection, serverConnections)
    return {
      outage,
      pool,
      connection,
      kind: 'postgresql',
      exclusively: exclusion(pool, true, outage),
      ...measured(pool, serverConnections),
      close: () => pool.end(),
    }
  }
  return openEmbedded(config.data_dir, new_database, remark, outage)
}

/** The same driver on a database in this process. */
async function openEmbedded(
  data_dir: string,
  new_database: string | null,
  remark: Remark,
  outage: Outage,
): Promise<Database> {
  const embedded = await startEmbedded(data_dir, new_database, remark)
  const connection = {
    stream: embedded.connect,
    query_timeout: answerTimeoutMs,
    user: 'postgres',
    database: 'postgres',
  }
  const pool = poolOf(connection, embeddedConnections)
  const close = async () => {
    // A connection that is never released does not keep the process alive.
    await settledWithin(pool.end(), closeTimeoutMs)
    await embedded.close()
  }
  return {
    outage,
    pool,
    connection,
    kind: 'pglite',
    exclusively: exclusion(pool, false, outage),
    ...measured(pool, embeddedConnections),
    close,
  }
}

async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController()
  await Promise.race([work, setTimeout(ms, undefined, { signal: timer.signal, ref: false })])
  timer.abort()
}

// Further connections would only wait for the one session.
const embeddedConnections = 4
const serverConnections = 10

/** Longer than a connection waits for the session; after a time-out the connection is lost. */
const answerTimeoutMs = 60_000
const closeTimeoutMs = 3000

/**
 * Holders within the process queue first, so that waiting for a lock of the server takes one connection and not the pool.
 * The embedded database needs only the queue: its connections share one session, which holds a lock as a whole.
 */
function exclusion(pool: pg.Pool, shared: boolean, outage: Outage): Database['exclusively'] {
  const last = new Map<number, Promise<unknown>>()
  return (lock, work) => {
    const run = (last.get(lock) ?? Promise.resolve()).then(() =>
      shared ? underServerLock(pool, lock, outage, work) : work(),
    )
    last.set(
      lock,
      run.catch(() => undefined),
    )
    return run
  }
}

async function underServerLock<T>(pool: pg.Pool, lock: number, outage: Outage, work: () => Promise<T>): Promise<T> {
  const connection = await connect(pool, outage)
  try {
    await connection.query('select pg_advisory_lock($1)', [lock])
    return await work()
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error) : error
  } finally {
    // A connection that cannot unlock still holds the lock and must not return to the pool.
    const unlocked = connection.query('select pg_advisory_unlock($1)', [lock])
    connection.release(
      await unlocked.then(
        () => false,
        () => true,
      ),
    )
  }
}

/**
 * Runs `work` in one transaction bound to the scope's organization by row-level security. Rejects with
 * UNAVAILABLE when the database is unavailable; whether a commit in progress took place is then unknown.
 */
export async function withTransaction<T>(
  db: Database,
  scope: Scope,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.withinLimit(scope.org_id, () => inTransaction(db, `begin; ${asTenant(scope)}`, work))
}

/** Like `withTransaction`, but reads one snapshot of the database and cannot write. */
export async function withSnapshot<T>(db: Database, scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const begin = 'begin isolation level repeatable read read only'
  return db.withinLimit(scope.org_id, () => inTransaction(db, `${begin}; ${asTenant(scope)}`, work))
}

/** Like `withTransaction`, but as the owner of the tables: for sign-in by key, the start, and jobs. */
export function withUnscopedTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.withinLimit('', () => inTransaction(db, unscoped, work))
}

/**
 * Like `withUnscopedTransaction`, for commands that lock rows of one organization and also use rows outside it. It counts
 * against the limit of that organization, so that sign-in does not wait for its locks.
 */
export function withUnscopedTransactionOf<T>(
  db: Database,
  { org_id }: Scope,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.withinLimit(org_id, () => inTransaction(db, unscoped, work))
}

/** True if the disk of the database is full; asks the database only after it was. Rejects with UNAVAILABLE. */
export async function isDiskFull(db: Database): Promise<boolean> {
  if (!db.outage.isDiskFull()) return false
  try {
    await withUnscopedTransaction(db, (tx) => tx.query(fillPages))
    db.outage.stored()
  } catch (error) {
    if (failureKind(error) !== 'disk') throw error
  }
  return db.outage.isDiskFull()
}

async function inTransaction<T>(db: Database, begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const connection = await beginOn(db, begin)
  let broken = false
  const run = <Row extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    connection.query<Row>(text, [...values]).catch((error: unknown) => {
      broken = isDriverUnavailable(error)
      if (broken) db.outage.failed(error)
      throw broken ? unavailable(error) : withoutNul(error)
    })
  const committed: (() => void)[] = []
  try {
    const result = await work({
      held: db.gate.held,
      afterCommit: (then) => committed.push(then),
      count: (name) => committed.push(() => db.counts.set(name, (db.counts.get(name) ?? 0) + 1)),
      query: async <Row>(text: string, values?: readonly unknown[]) =>
        (await run<Row & pg.QueryResultRow>(text, values)).rows,
    })
    const { command } = await run('commit')
    // After a failed statement PostgreSQL answers a commit with ROLLBACK, without an error.
    if (command !== 'COMMIT') throw new Error('the transaction was rolled back: a statement in it failed')
    db.outage.answered()
    for (const then of committed) then()
    return result
  } catch (error) {
    broken ||= isUnavailable(error)
    if (!broken)
      await connection.query('rollback').catch(() => {
        broken = true
      })
    throw broken ? unavailable(error) : error
  } finally {
    connection.release(broken)
  }
}

/** PostgreSQL stores no text with NUL: a request that holds one where its schema allows any text is wrong, not the platform. */
function withoutNul(error: unknown): unknown {
  const isNul = (error as { code?: unknown }).code === '22021'
  return isNul ? new PlatformError('INVALID', 'a text of the request contains the character U+0000: remove it') : error
}

/**
 * A connection with an open transaction. Connections that were lost in the pool are discarded and the next one is tried.
 * Rejects with UNAVAILABLE when a new connection fails.
 */
async function beginOn(db: Database, begin: string): Promise<pg.PoolClient> {
  for (let attempt = 0; ; attempt++) {
    const connection = await connect(db.pool, db.outage)
    try {
      await connection.query(begin)
      return connection
    } catch (error) {
      const isLost = isDriverUnavailable(error)
      connection.release(isLost)
      if (isLost && attempt < serverConnections) continue
      if (isLost) db.outage.failed(error)
      throw isLost ? unavailable(error) : error
    }
  }
}

/** The maximum wait of a transaction for the locks of another, ms. */
const lockTimeoutMs = 20_000

const limitWait = `set local lock_timeout = '${lockTimeoutMs}ms'`
const unscoped = `begin; ${limitWait}`

/** INVARIANT (isolation): until the transaction ends, only rows of this organization can be read and written. */
function asTenant({ org_id }: Scope): string {
  return `set local role svc_app; ${limitWait}; select set_config('app.org_id', '${checkedOrg(org_id)}', true)`
}

function checkedOrg(org_id: string): string {
  if (!/^org_[0-9a-f]+$/.test(org_id)) throw new Error('not an organization id')
  return org_id
}
