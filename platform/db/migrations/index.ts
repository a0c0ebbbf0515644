// The migrations, in order. They are part of the program: no file is read at run time.
import { productVersion } from '@svc/schemas'
import knexModule, { type Knex } from 'knex'
import { PlatformError } from '../../errors.js'
import { type Database, withUnscopedTransaction } from '../db.js'
import { acquireTimeoutMs } from '../pool.js'
import * as schema from './0001-schema.js'

const migrations: readonly { readonly name: string; readonly migration: Knex.Migration }[] = [
  { name: '0001-schema', migration: schema },
]

const source: Knex.MigrationSource<(typeof migrations)[number]> = {
  getMigrations: async () => [...migrations],
  getMigrationName: ({ name }) => name,
  getMigration: async ({ migration }) => migration,
}

/** The errors reach the caller; the messages of Knex repeat whole statements. */
const silent = { warn: nothing, error: nothing, debug: nothing, deprecate: nothing }

function nothing(): void {}

/** The key of the advisory lock, unique to this program. */
const migrationLock = 7_283_001

/**
 * Runs the migrations that are missing. Concurrent starts run one after the other, so a lock in the table of
 * migrations was left by a killed process and is freed. Rejects with UNAVAILABLE when the database is unavailable.
 */
export function migrate(db: Database): Promise<void> {
  const config = { migrationSource: source, tableName: 'svc_migrations' }
  return db.exclusively(migrationLock, async () => {
    await assertNotNewer(db)
    const knex = knexModule.knex({
      client: 'pg',
      connection: db.connection as Knex.PgConnectionConfig,
      pool: { min: 0, max: 2, acquireTimeoutMillis: acquireTimeoutMs },
      log: silent,
    })
    try {
      await knex.migrate.forceFreeMigrationsLock(config)
      await knex.migrate.latest(config).catch(plainly)
    } finally {
      await knex.destroy()
    }
  })
}

/** Rejects with CONFLICT when a newer version has changed the tables, which this one could damage. */
async function assertNotNewer(db: Database): Promise<void> {
  const known = new Set(migrations.map(({ name }) => name))
  const found = await withUnscopedTransaction(db, async (tx) => {
    const [table] = await tx.query<{ name: string | null }>(`select to_regclass('svc_migrations')::text as name`)
    return table?.name ? tx.query<{ name: string }>('select name from svc_migrations order by id') : []
  })
  const newer = found.findLast(({ name }) => !known.has(name))
  if (newer === undefined) return
  throw new PlatformError(
    'CONFLICT',
    `a newer version of svc has changed this database (migration \`${newer.name}\`), and this is version ${productVersion}: start the newer version, or restore a backup from before its first start`,
  )
}

/** Shortens an error that a migration raised to its own message: Knex puts the whole statement before it. */
function plainly(error: unknown): never {
  const { message, code } = error as { message: string; code?: string }
  if (code !== 'P0001') throw error
  throw new PlatformError('CONFLICT', `the database cannot be brought up to date: ${message.split(' - ').at(-1)}`, {
    cause: error,
  })
}

/** The last migration that has run; null before the first. Rejects with UNAVAILABLE. */
export async function lastMigration(db: Database): Promise<string | null> {
  const [row] = await withUnscopedTransaction(db, (tx) =>
    tx.query<{ name: string }>('select name from svc_migrations order by id desc limit 1'),
  )
  return row?.name ?? null
}
