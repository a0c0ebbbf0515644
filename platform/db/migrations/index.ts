// The migrations, in order. They are part of the program: no file is read at run time.
import { productVersion } from '@svc/schemas'
import type { Knex } from 'knex'
import { PlatformError } from '../../errors.js'
import { migrateJobTables } from '../boss.js'
import { type Database, withUnscopedTransaction } from '../db.js'
import * as spine from './0001-spine.js'
import * as tree from './0002-tree.js'
import * as engines from './0003-engines.js'
import * as records from './0004-records.js'
import * as erasures from './0005-erasures.js'
import * as keeping from './0006-keeping.js'
import * as isolation from './0007-isolation.js'
import * as access from './0008-access.js'
import * as devices from './0009-devices.js'
import * as lastWorkspace from './0010-last-workspace.js'
import * as sealed from './0011-sealed.js'
import * as lists from './0014-lists.js'
import * as accounts from './0015-accounts.js'
import * as sharedGuards from './0016-shared-guards.js'
import * as functionRights from './0017-function-rights.js'
import * as transfers from './0018-transfers.js'
import * as approvals from './0019-approvals.js'
import * as memoryLabels from './0020-memory-labels.js'
import * as repositories from './0021-repositories.js'
import * as approvedVersions from './0022-approved-versions.js'
import * as githubApp from './0023-github-app.js'
import * as reports from './0024-reports.js'
import * as policiesByHand from './0025-policies-by-hand.js'
import * as incidents from './0026-incidents.js'
import * as actions from './0027-actions.js'
import * as stops from './0028-stops.js'
import * as unfinishedTasks from './0029-unfinished-tasks.js'
import * as load from './0030-load.js'
import * as origins from './0031-step-origins.js'
import * as traceReports from './0032-trace-reports.js'
import * as unmappedSpans from './0033-unmapped-spans.js'
import * as effects from './0034-effects.js'
import * as deactivatedAgents from './0035-deactivated-agents.js'
import * as heldLogs from './0036-held-logs.js'
import * as stopsOfKeys from './0037-stops-of-keys.js'
import * as logConfirmations from './0038-log-confirmations.js'
import * as authorsOfVersions from './0039-authors-of-versions.js'
import * as foldedKeys from './0040-folded-keys.js'
import * as reportTimes from './0041-report-times.js'
import * as answeredQuestions from './0042-answered-questions.js'

const migrations: readonly { readonly name: string; readonly migration: Knex.Migration }[] = [
  { name: '0001-spine', migration: spine },
  { name: '0002-tree', migration: tree },
  { name: '0003-engines', migration: engines },
  { name: '0004-records', migration: records },
  { name: '0005-erasures', migration: erasures },
  { name: '0006-keeping', migration: keeping },
  { name: '0007-isolation', migration: isolation },
  { name: '0008-access', migration: access },
  { name: '0009-devices', migration: devices },
  { name: '0010-last-workspace', migration: lastWorkspace },
  { name: '0011-sealed', migration: sealed },
  { name: '0014-lists', migration: lists },
  { name: '0015-accounts', migration: accounts },
  { name: '0016-shared-guards', migration: sharedGuards },
  { name: '0017-function-rights', migration: functionRights },
  { name: '0018-transfers', migration: transfers },
  { name: '0019-approvals', migration: approvals },
  { name: '0020-memory-labels', migration: memoryLabels },
  { name: '0021-repositories', migration: repositories },
  { name: '0022-approved-versions', migration: approvedVersions },
  { name: '0023-github-app', migration: githubApp },
  { name: '0024-reports', migration: reports },
  { name: '0025-policies-by-hand', migration: policiesByHand },
  { name: '0026-incidents', migration: incidents },
  { name: '0027-actions', migration: actions },
  { name: '0028-stops', migration: stops },
  { name: '0029-unfinished-tasks', migration: unfinishedTasks },
  { name: '0030-load', migration: load },
  { name: '0031-step-origins', migration: origins },
  { name: '0032-trace-reports', migration: traceReports },
  { name: '0033-unmapped-spans', migration: unmappedSpans },
  { name: '0034-effects', migration: effects },
  { name: '0035-deactivated-agents', migration: deactivatedAgents },
  { name: '0036-held-logs', migration: heldLogs },
  { name: '0037-stops-of-keys', migration: stopsOfKeys },
  { name: '0038-log-confirmations', migration: logConfirmations },
  { name: '0039-authors-of-versions', migration: authorsOfVersions },
  { name: '0040-folded-keys', migration: foldedKeys },
  { name: '0041-report-times', migration: reportTimes },
  { name: '0042-answered-questions', migration: answeredQuestions },
]

const source: Knex.MigrationSource<(typeof migrations)[number]> = {
  getMigrations: async () => [...migrations],
  getMigrationName: ({ name }) => name,
  getMigration: async ({ migration }) => migration,
}

/** The key of the advisory lock, unique to this program. */
const migrationLock = 7_283_001

/**
 * Runs the migrations that are missing. Concurrent starts run one after the other, so a lock in the table of
 * migrations was left by a killed process and is freed. Rejects with UNAVAILABLE when the database is unavailable.
 */
export function migrate(db: Database): Promise<void> {
  const { knex, exclusively } = db
  const config = { migrationSource: source, tableName: 'svc_migrations' }
  return exclusively(migrationLock, async () => {
    await assertNotNewer(db)
    await knex.migrate.forceFreeMigrationsLock(config)
    await knex.migrate.latest(config).catch(plainly)
    await migrateJobTables(db)
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
