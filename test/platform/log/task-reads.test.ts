// Reading a task among many entries that came after the last statistics: only its own rows are read.
import { readConfig } from '@svc/platform'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openDatabase, withSnapshot } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { readByIndex } from '../../../platform/db/sql.js'
import { readTaskVerbatim } from '../../../platform/log/read/store/tasks.js'
import { entriesOf } from '../../support/http/list-fill.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('the stored rows of a task', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  let db: Database
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: { SVC_CHECKPOINT_SECONDS: '0' } })
    const [org_id = '', size] = postgres.psql(url, 'select org_id, size from org_log').trim().split('|')
    postgres.psql(url, entriesOf(org_id, 20_000, 20, Number(size), { agents: 2, events: 0, incidents_per_task: 1 }))
    db = await openDatabase(readConfig({ SVC_DATABASE_URL: url }).value)
  })
  afterAll(async () => {
    await db.close()
    await discard(platform)
  })

  it('are found by index, without statistics', async () => {
    const org_id = postgres.psql(url, 'select org_id from org_log').trim()
    const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
    await withSnapshot(db, scope, async (tx) => {
      await readByIndex(tx)
      let steps = 0
      for await (const { payload, leaf } of readTaskVerbatim(scope, tx, 'run-7')) {
        expect([payload?.body, leaf?.type]).toEqual(['{}', 'step'])
        steps += 1
      }
      const [row] = await tx.query<{ read: number }>(
        `select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
         where relname ~ '^log_(entries|payloads|leaves)'`,
      )
      // Three rows for each step.
      expect([steps, row?.read]).toEqual([20, 60])
    })
  })
})
