// The database: a PostgreSQL server, or the same dialect embedded in this process. The driver is the same for both.
import { setTimeout } from 'node:timers/promises'
import knexModule, { type Knex } from 'knex'
import pg from 'pg'
import type { Config } from '../config.js'
import { PlatformError } from '../errors.js'
import { createTurns, type Turns } from './concurrency.js'
import { startEmbedded } from './embedded.js'
import { newDatabasePath } from './new-database.js'
import type { Scope } from './scope.js'

export interface Database {
  readonly knex: Knex
  readonly kind: 'pglite' | 'postgresql'
  /** Runs `work` while no other holder of the same lock runs: in this process, and on a server in any other. */
  readonly exclusively: <T>(lock: number, work: () => Promise<T>) => Promise<T>
  /** Transactions of one organization wait here for each other, before they take a connection. */
  readonly turns: Turns
  readonly close: () => Promise<void>
}

/** What a command needs to change rows: the database, and the time in ms since 1970. */
export interface Resources {
  readonly db: Database
  readonly clock: () => number
}

/** Where the driver's own remarks go, such as a lost connection; without one they go nowhere. */
export type Remark = (message: string) => void

/** Statements of one transaction, straight to the connection: ingestion runs thousands a second. */
export interface Transaction {
  readonly query: <Row = Record<string, unknown>>(text: string, values?: readonly unknown[]) => Promise<Row[]>
}

/**
 * Opens the database the configuration names. An embedded one that is not there yet begins as a copy of `new_database`;
 * null makes it from nothing. Throws CONFLICT when the data directory is in use.
 */
export async function openDatabase(
  config: Config,
  remark?: Remark,
  new_database: string | null = newDatabasePath(),
): Promise<Database> {
  if (config.database_url !== null) {
    const knex = connect({ connectionString: config.database_url }, serverConnections, remark)
    const turns = turnsOn(serverConnections)
    return { knex, kind: 'postgresql', exclusively: exclusion(knex, true), turns, close: () => knex.destroy() }
  }
  return openEmbedded(config.data_dir, new_database, remark)
}

/** The same driver on a database in this process. */
async function openEmbedded(
  data_dir: string,
  new_database: string | null,
  remark: Remark = nothing,
): Promise<Database> {
  const embedded = await startEmbedded(data_dir, new_database, remark)
  const connection = {
    stream: embedded.connect,
    query_timeout: answerTimeoutMs,
    user: 'postgres',
    database: 'postgres',
  }
  const knex = connect(connection as Knex.PgConnectionConfig, embeddedConnections, remark)
  const close = async () => {
    // A connection that is not given back does not keep the process alive.
    await settledWithin(knex.destroy(), closeTimeoutMs)
    await embedded.close()
  }
  const turns = turnsOn(embeddedConnections)
  return { knex, kind: 'pglite', exclusively: exclusion(knex, false), turns, close }
}

async function settledWithin(work: Promise<void>, ms: number): Promise<void> {
  const timer = new AbortController()
  await Promise.race([work, setTimeout(ms, undefined, { signal: timer.signal, ref: false })])
  timer.abort()
}

/** Some connections are left for whoever has no organization yet, however many organizations wait for their locks. */
function turnsOn(connections: number): Turns {
  const [each, together] = [createTurns(connections / 2), createTurns(Math.floor(connections * 0.6))]
  return (name, work) => each(name, () => (name === '' ? work() : together('all', work)))
}

// More than a few connections only wait for the one session.
const embeddedConnections = 4
const serverConnections = 10

/** Longer than a connection waits for the session: an answer that takes more is lost, and so is the connection. */
const answerTimeoutMs = 60_000
const closeTimeoutMs = 3000

function connect(connection: Knex.PgConnectionConfig & { port?: number }, max: number, remark: Remark = nothing): Knex {
  const types = new pg.TypeOverrides()
  // bigint columns hold positions and step numbers, which the edge keeps below 2^53.
  types.setTypeParser(pg.types.builtins.INT8, Number)
  return knexModule.knex({
    client: 'pg',
    connection: { ...connection, types } as Knex.PgConnectionConfig,
    pool: { min: 0, max, acquireTimeoutMillis: 5000 },
    // What goes wrong reaches whoever asked, as UNAVAILABLE, and is logged there.
    log: { warn: remark, error: remark, debug: remark, deprecate: remark },
  })
}

/**
 * Turns within the process come first, so that waiting for a server's lock takes one connection and not the pool. The
 * embedded database needs no more: its connections are one session, which its own lock would never keep apart.
 */
function exclusion(knex: Knex, shared: boolean): Database['exclusively'] {
  const last = new Map<number, Promise<unknown>>()
  return (lock, work) => {
    const turn = (last.get(lock) ?? Promise.resolve()).then(() => (shared ? holding(knex, lock, work) : work()))
    last.set(
      lock,
      turn.catch(() => undefined),
    )
    return turn
  }
}

async function holding<T>(knex: Knex, lock: number, work: () => Promise<T>): Promise<T> {
  const { client } = knex
  const connection = (await client.acquireConnection().catch((error: unknown) => {
    throw isAway(error) ? away(error) : error
  })) as pg.Client
  try {
    await connection.query('select pg_advisory_lock($1)', [lock])
    return await work()
  } catch (error) {
    throw isAway(error) ? away(error) : error
  } finally {
    await connection.query('select pg_advisory_unlock($1)', [lock]).catch(() => {
      // A connection that cannot unlock must not go back to the pool with the lock in its hands.
      Object.assign(connection, { __knex__disposed: 'connection lost' })
    })
    await client.releaseConnection(connection)
  }
}

function nothing(): void {}

/**
 * Runs `work` in one transaction bound to the scope's organization by row-level security. Rejects with
 * UNAVAILABLE when the database is away; whether a commit that was under way took place is then unknown.
 */
export async function withTransaction<T>(
  db: Database,
  scope: Scope,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.turns(scope.org_id, () => inTransaction(db, `begin; ${asTenant(scope)}`, work))
}

/** The same for reading: one moment of the database throughout, and unable to write. */
export async function withSnapshot<T>(db: Database, scope: Scope, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const begin = 'begin isolation level repeatable read read only'
  return db.turns(scope.org_id, () => inTransaction(db, `${begin}; ${asTenant(scope)}`, work))
}

/** The same for the few who know no organization yet, as the owner of the tables: sign-in by key, start-up, jobs. */
export function withUnscopedTransaction<T>(db: Database, work: (tx: Transaction) => Promise<T>): Promise<T> {
  return db.turns('', () => inTransaction(db, unscoped, work))
}

/**
 * The same for what reaches beyond one organization and locks something of it: it waits for a turn of its own, so that
 * nobody's sign-in waits for what others have locked.
 */
export function withUnscopedTransactionOf<T>(
  db: Database,
  { org_id }: Scope,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return db.turns(org_id, () => inTransaction(db, unscoped, work))
}

async function inTransaction<T>(db: Database, begin: string, work: (tx: Transaction) => Promise<T>): Promise<T> {
  const connection = await begun(db, begin)
  let broken = false
  try {
    const result = await work(transactionOn(connection))
    const { command } = await connection.query('commit')
    // PostgreSQL answers a commit after a failed statement with a rollback, and calls neither an error.
    if (command !== 'COMMIT') throw new Error('the database has given up the transaction: a statement in it failed')
    return result
  } catch (error) {
    broken = isAway(error)
    if (!broken)
      await connection.query('rollback').catch(() => {
        broken = true
      })
    throw broken ? away(error) : error
  } finally {
    await giveBack(db, connection, broken)
  }
}

/**
 * A connection with its transaction begun. Connections that were lost while they waited in the pool are let go and the
 * next one is tried: nothing has been done on them. A new one that fails means that the database is away.
 */
async function begun(db: Database, begin: string): Promise<pg.Client> {
  for (let attempt = 0; ; attempt++) {
    const connection = (await db.knex.client.acquireConnection().catch(throwAway)) as pg.Client
    try {
      await connection.query(begin)
      return connection
    } catch (error) {
      const isLost = isAway(error)
      await giveBack(db, connection, isLost)
      if (!isLost || attempt >= serverConnections) throw isLost ? away(error) : error
    }
  }
}

async function giveBack({ knex }: Database, connection: pg.Client, broken: boolean): Promise<void> {
  if (broken) Object.assign(connection, { __knex__disposed: 'connection lost' })
  await knex.client.releaseConnection(connection)
}

function transactionOn(connection: pg.Client): Transaction {
  return {
    query: async <Row>(text: string, values: readonly unknown[] = []) =>
      (await connection.query<Row & pg.QueryResultRow>(text, [...values])).rows,
  }
}

/** How long one may wait for another of the same organization before it is told to come back, ms. */
const longestLock = 20_000

const patient = `set local lock_timeout = '${longestLock}ms'`
const unscoped = `begin; ${patient}`

/** INVARIANT (isolation): until the transaction ends, the database shows and takes rows of this organization only. */
function asTenant({ org_id }: Scope): string {
  return `set local role svc_app; ${patient}; select set_config('app.org_id', '${checkedOrg(org_id)}', true)`
}

function checkedOrg(org_id: string): string {
  if (!/^org_[0-9a-f]+$/.test(org_id)) throw new Error('not an organization id')
  return org_id
}

function throwAway(error: unknown): never {
  throw away(error)
}

function away(cause: unknown): PlatformError {
  return new PlatformError('UNAVAILABLE', 'the database is away: try again', { cause })
}

/** Errors that say the connection or the server is gone, or cannot take more: SQLSTATE classes 08, 53, 57P, a lock that is not freed or cannot be, and Node's own. */
function isAway(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string }
  if (/^(08|53|57P0|55P03|40P01|40001)/.test(code ?? '')) return true
  if (/^(ECONN|EPIPE|ENOENT|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)/.test(code ?? '')) return true
  return /Connection terminated|connection error|not queryable|timeout acquiring a connection|query read timeout/i.test(
    message ?? '',
  )
}
