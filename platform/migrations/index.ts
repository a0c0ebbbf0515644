// The list of migrations, in order. They are part of the program: nothing is read from disk at run time.
import type { Knex } from 'knex'
import type { Database } from '../store/db.js'
import * as spine from './0001-spine.js'

const migrations: readonly { readonly name: string; readonly migration: Knex.Migration }[] = [
  { name: '0001-spine', migration: spine },
]

const source: Knex.MigrationSource<(typeof migrations)[number]> = {
  getMigrations: async () => [...migrations],
  getMigrationName: ({ name }) => name,
  getMigration: async ({ migration }) => migration,
}

/** Any number that only this program locks. */
const migrationLock = 7_283_001

/**
 * Brings the database up to this build; a no-op when it is. Processes that start together take turns; a lock that a
 * killed one left in the bookkeeping table is then known to be stale, and is freed.
 */
export async function migrate(db: Database): Promise<void> {
  const { knex, kind } = db
  const config = { migrationSource: source, tableName: 'svc_migrations' }
  const latest = async () => {
    await knex.migrate.forceFreeMigrationsLock(config)
    await knex.migrate.latest(config)
  }
  // The embedded database has one process, which its lock file has seen to.
  if (kind === 'pglite') return latest()
  const turn = await knex.client.acquireConnection()
  try {
    await turn.query('select pg_advisory_lock($1)', [migrationLock])
    await latest()
    await turn.query('select pg_advisory_unlock($1)', [migrationLock])
  } finally {
    await knex.client.releaseConnection(turn)
  }
}

/** The last migration that has run, null before the first. */
export async function lastMigration({ knex }: Database): Promise<string | null> {
  const row = await knex('svc_migrations').orderBy('id', 'desc').first<{ name: string } | undefined>('name')
  return row?.name ?? null
}
