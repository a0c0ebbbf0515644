// The embedded database gets the statistics and the space that autovacuum gives a server.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Database, openDatabase, withUnscopedTransaction } from '../../../platform/db/db.js'
import { keepUp } from '../../../platform/db/upkeep.js'
import { upkeepJobs } from '../../../platform/jobs/upkeep-job.js'

describe('the embedded database', () => {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-upkeep-'))
  const { signal } = new AbortController()
  let db: Database
  beforeAll(async () => {
    db = await openDatabase(readConfig({ SVC_DATA_DIR: data_dir }).value, undefined, null)
  })
  afterAll(async () => {
    await db.close()
    rmSync(data_dir, { recursive: true })
  })
  const run = <Row>(text: string) => withUnscopedTransaction(db, (tx) => tx.query<Row>(text))
  const estimates = () =>
    run<{ rows: number; dead: number }>(
      `select c.reltuples::int as rows, s.n_dead_tup::int as dead from pg_class c join pg_stat_user_tables s on s.relid = c.oid
       where c.relname = 'Imported'`,
    )

  it('knows the rows of an import, and frees those that are dead', async () => {
    await run('create table "Imported" (id int primary key, n int)')
    await run('insert into "Imported" select n, 0 from generate_series(1, 5000) n')
    await run('update "Imported" set n = 1')
    // Otherwise the database writes its counts once a second.
    await run('select pg_stat_force_next_flush()')
    expect(await estimates()).toEqual([{ rows: -1, dead: 5000 }])
    expect(await keepUp(db, signal)).toContain('public."Imported"')
    expect(await estimates()).toEqual([{ rows: 5000, dead: 0 }])
  })

  it('is left alone until its rows change', async () => {
    await keepUp(db, signal)
    expect(await keepUp(db, signal)).toEqual([])
  })

  it('is looked at by a job; a server has its own', () => {
    expect(upkeepJobs(db).map(({ name }) => name)).toEqual(['keep-up-database'])
    expect(upkeepJobs({ ...db, kind: 'postgresql' })).toEqual([])
  })
})
