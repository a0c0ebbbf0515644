// The pool of connections of the driver.
import { parseJson } from '@svc/proof'
import pg from 'pg'
import { isBusy } from './connections.js'
import { unavailable } from './failure.js'
import type { Outage } from './outage.js'

/** The maximum wait of a transaction for a connection, ms. */
export const acquireTimeoutMs = 5000

export function poolOf(connection: pg.ClientConfig, max: number): pg.Pool {
  const types = new pg.TypeOverrides()
  // bigint columns hold log indexes and step numbers, which the schemas keep below 2^53.
  types.setTypeParser(pg.types.builtins.INT8, Number)
  // Columns and results of these types quote evidence, such as details of violations.
  types.setTypeParser(pg.types.builtins.JSON, parseJson)
  types.setTypeParser(pg.types.builtins.JSONB, parseJson)
  const pool = new pg.Pool({ ...connection, types, max, connectionTimeoutMillis: acquireTimeoutMs })
  // A lost connection rejects the next statement on it, which reports the outage.
  pool.on('error', nothing)
  pool.on('connect', (client) => client.on('error', nothing))
  return pool
}

/** Rejects with UNAVAILABLE. A pool whose connections are all in use does not mean an outage of the database. */
export async function connect(pool: pg.Pool, outage: Outage): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    if (!isBusy(pool)) outage.failed(error)
    throw unavailable(error)
  }
}

function nothing(): void {}
