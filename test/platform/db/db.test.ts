// The database layer on both databases: migrations, transactions, partitions, the lock, and an unavailable server.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { takeLock } from '@svc/engine/parts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../platform/config.js'
import {
  type Database,
  openDatabase,
  withSnapshot,
  withTransaction,
  withUnscopedTransaction,
} from '../../../platform/db/db.js'
import { lastMigration, migrate } from '../../../platform/db/migrations/index.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { forEachDatabase, hasPostgres, type Postgres, startPostgres } from '../../support/server/postgres.js'

const scope = scopeOf('org_1a', { kind: 'system', id: 'test' })

/** Inserts one row into a small table, as ingestion does. */
const raise = (db: Database, kind: string, value: number) =>
  withTransaction(db, scope, (tx) => tx.query('insert into counters values ($1, $2, $3)', ['org_1a', kind, value]))

const counters = (db: Database) =>
  withTransaction(db, scope, (tx) => tx.query<{ kind: string; value: number }>('select kind, value from counters'))

/** All tables, columns, indexes and checks as one comparable value. */
const shape = (db: Database) =>
  withUnscopedTransaction(db, async (tx) => [
    await tx.query(`select table_name, column_name, data_type, is_nullable from information_schema.columns
      where table_schema = 'public' order by 1, 2`),
    await tx.query(`select indexdef from pg_indexes where schemaname = 'public' order by 1`),
    await tx.query('select id, name from svc_migrations order by 1'),
  ])

await forEachDatabase('the database', ({ kind, fresh, empty }) => {
  const config = fresh()
  let db: Database
  beforeAll(async () => {
    db = await openDatabase(config)
    await migrate(db)
  })
  afterAll(() => db.close())
  afterEach(() => withTransaction(db, scope, (tx) => tx.query('delete from counters')))

  it('is of the kind that the configuration names, and reports its last migration', async () => {
    expect(db.kind).toBe(kind)
    expect(await lastMigration(db)).toMatch(/^\d{4}-[a-z-]+$/)
  })

  it('is unchanged by a second migration', async () => {
    const before = await shape(db)
    await migrate(db)
    expect(await shape(db)).toEqual(before)
  })

  it('is migrated once by concurrent starts', async () => {
    const other = empty()
    const first = await openDatabase(other)
    // The embedded database has one process, so that the two starts share it.
    const second = kind === 'pglite' ? first : await openDatabase(other)
    await Promise.all([migrate(first), migrate(second), migrate(second)])
    expect(await shape(first)).toEqual(await shape(db))
    await first.close()
    if (second !== first) await second.close()
  })

  it('has primary keys of tenants that begin with org_id', async () => {
    const keys = await withTransaction(db, scope, (tx) =>
      tx.query<{ table: string; first: string }>(`
        select c.relname as table, a.attname as first from pg_index i
        join pg_class c on c.oid = i.indrelid join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
        where i.indisprimary and c.relnamespace = 'public'::regnamespace and exists (
          select 1 from pg_attribute o where o.attrelid = c.oid and o.attname = 'org_id')`),
    )
    expect(keys.length).toBeGreaterThanOrEqual(16)
    expect(keys.filter(({ first }) => first !== 'org_id')).toEqual([])
  })

  it('commits all of a transaction or nothing', async () => {
    const failing = withTransaction(db, scope, async (tx) => {
      await tx.query("insert into counters values ('org_1a', 'policy', 1)")
      throw new Error('on purpose')
    })
    await expect(failing).rejects.toThrow('on purpose')
    expect(await counters(db)).toEqual([])
    await raise(db, 'policy', 2)
    expect(await counters(db)).toEqual([{ kind: 'policy', value: 2 }])
  })

  it('rejects a transaction that the database has rolled back', async () => {
    const swallowing = withTransaction(db, scope, async (tx) => {
      await tx.query("insert into counters values ('org_1a', 'policy', 1)")
      await tx.query('select 1 / 0').catch(() => undefined)
    })
    await expect(swallowing).rejects.toThrow('rolled back')
    expect(await counters(db)).toEqual([])
  })

  it('sets the organization until the transaction ends', async () => {
    const ask = "select coalesce(current_setting('app.org_id', true), '') as org_id"
    expect(await withTransaction(db, scope, (tx) => tx.query(ask))).toEqual([{ org_id: 'org_1a' }])
    expect((await db.pool.query(ask)).rows).toEqual([{ org_id: '' }])
    const forged = scopeOf("org_1a', true); drop table counters; --", scope.actor)
    await expect(withTransaction(db, forged, (tx) => tx.query(ask))).rejects.toThrow('not an organization id')
  })

  it('rejects writes in a snapshot', async () => {
    const writing = withSnapshot(db, scope, (tx) => tx.query("insert into counters values ('org_1a', 'repo', 1)"))
    await expect(writing).rejects.toMatchObject({ code: '25006' })
  })

  it('returns bigint as a number and jsonb as a value', async () => {
    const text = `select 9007199254740991::bigint as big, '{"a": [1]}'::jsonb as body`
    expect(await withTransaction(db, scope, (tx) => tx.query(text))).toEqual([
      { big: Number.MAX_SAFE_INTEGER, body: { a: [1] } },
    ])
  })

  it('rejects changes and deletions of events', async () => {
    await withTransaction(db, scope, (tx) =>
      tx.query(
        `insert into events values ('org_1a', 'ev_1', 1, now(), 'system', 'test', 'test.made', 'test', '1', '{}')`,
      ),
    )
    for (const change of ["update events set kind = 'other'", 'delete from events', 'truncate events']) {
      await expect(withTransaction(db, scope, (tx) => tx.query(change))).rejects.toThrow('permission denied')
      const rejected = withUnscopedTransaction(db, (tx) => tx.query(change))
      await expect(rejected).rejects.toThrow(`events are append-only: ${change.split(' ')[0]} is refused`)
    }
    const others = [
      ["select set_config('app.pruning', 'on', true)", 'delete from events'],
      ['alter table events disable trigger all'],
      ['drop trigger events_append_only on events'],
      ["create or replace function svc_refuse_change() returns trigger language plpgsql as 'begin return null; end'"],
      ["set local session_replication_role = 'replica'"],
    ]
    for (const attack of others) {
      const rejected = withTransaction(db, scope, async (tx) => {
        for (const text of attack) await tx.query(text)
      })
      await expect(rejected, attack.join('; ')).rejects.toThrow(/permission denied|must be owner/)
    }
    expect(await withTransaction(db, scope, (tx) => tx.query('select kind from events'))).toEqual([
      { kind: 'test.made' },
    ])
  })

  it('creates the partitions of a month once, also for concurrent callers', async () => {
    const ensure = (moment: string) =>
      withTransaction(db, scope, (tx) => tx.query('select svc_ensure_month($1)', [moment]))
    await Promise.all(Array.from({ length: 6 }, () => ensure('2031-03-31T23:59:59.999Z')))
    await ensure('2031-04-01T00:00:00Z')
    const payload = (received_at: string) =>
      withTransaction(db, scope, (tx) =>
        tx.query<{ partition: string }>(
          "insert into log_payloads values ('org_1a', 1, $1, null, null) returning tableoid::regclass::text as partition",
          [received_at],
        ),
      )
    expect(await payload('2031-03-31T23:59:59.999Z')).toEqual([{ partition: 'log_payloads_203103' }])
    expect(await payload('2031-04-01T00:00:00Z')).toEqual([{ partition: 'log_payloads_203104' }])
    await expect(payload('2033-01-01T00:00:00Z')).rejects.toMatchObject({ code: '23514' })
  })

  it('has partitions for this month and the next after the first migration', async () => {
    const [row] = await withTransaction(db, scope, (tx) =>
      tx.query<{ missing: number }>(`
        select count(*)::int as missing from unnest(array['log_entries', 'log_payloads']) parent,
          unnest(array[now(), now() + interval '1 month']) moment
        where to_regclass(parent || to_char(moment at time zone 'UTC', '_YYYYMM')) is null`),
    )
    expect(row).toEqual({ missing: 0 })
  })

  it('keeps committed rows after a close', async () => {
    await raise(db, 'repo', 7)
    await db.close()
    if (kind === 'pglite') expect(existsSync(join(config.data_dir, 'lock'))).toBe(false)
    db = await openDatabase(config)
    expect(await counters(db)).toEqual([{ kind: 'repo', value: 7 }])
  })
})

describe('a data directory', () => {
  const folders: string[] = []
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'svc-lock-'))
    folders.push(made)
    return made
  }
  afterAll(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true })
  })

  it('is opened once per process', () => {
    const data_dir = folder()
    const unlock = takeLock(data_dir)
    expect(() => takeLock(data_dir)).toThrow('already open in this process')
    unlock()
    takeLock(data_dir)()
  })

  it('is taken over from a dead process, from a reused process id, and from an unreadable lock', () => {
    const gone = spawnSync(process.execPath, ['-e', '']).pid
    const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'])
    for (const content of [`${gone} 12345`, `${other.pid} 1`, '', 'not a lock']) {
      const data_dir = folder()
      writeFileSync(join(data_dir, 'lock'), content)
      takeLock(data_dir)()
      expect(existsSync(join(data_dir, 'lock'))).toBe(false)
    }
    other.kill()
  })
})

describe.skipIf(!hasPostgres())('a server', () => {
  let server: Postgres
  let db: Database
  beforeAll(async () => {
    server = (await startPostgres('-c fsync=off')) as Postgres
    db = await openDatabase(readConfig({ SVC_DATABASE_URL: server.emptyDatabase() }).value)
    await migrate(db)
  })
  afterAll(async () => {
    await db.close()
    await server.remove()
  })

  it('is UNAVAILABLE while it is stopped, with a time to retry, and available afterwards', async () => {
    await raise(db, 'policy', 1)
    server.stop('fast')
    const rejected = { code: 'UNAVAILABLE', headers: { 'retry-after': '1' } }
    await expect(counters(db)).rejects.toMatchObject(rejected)
    await expect(counters(db)).rejects.toMatchObject(rejected)
    server.start()
    expect(await counters(db)).toEqual([{ kind: 'policy', value: 1 }])
  })

  it('has free connections for other organizations while one is under load', async () => {
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const busy = Array.from({ length: 40 }, () =>
      withTransaction(db, scope, async (tx) => {
        await tx.query('select 1')
        await gate
      }),
    )
    const other = scopeOf('org_2b', { kind: 'system', id: 'test' })
    expect(await withTransaction(db, other, (tx) => tx.query('select 1 as one'))).toEqual([{ one: 1 }])
    open()
    expect((await Promise.all(busy)).length).toBe(40)
    const many = Array.from({ length: 600 }, () => withTransaction(db, scope, (tx) => tx.query('select 1')))
    const rejected = (await Promise.allSettled(many)).filter(({ status }) => status === 'rejected')
    expect(rejected.length).toBe(95)
  })

  it('is UNAVAILABLE to a transaction that it terminates, and stores none of it', async () => {
    const ended = withTransaction(db, scope, async (tx) => {
      await tx.query("insert into counters values ('org_1a', 'repo', 1)")
      await tx.query('set local role none')
      await tx.query('select pg_terminate_backend(pg_backend_pid())')
    })
    await expect(ended).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await counters(db)).toEqual([{ kind: 'policy', value: 1 }])
  })

  it('keeps committed rows after a crash', async () => {
    await raise(db, 'assignment', 3)
    server.stop('immediate')
    await expect(counters(db)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    server.start()
    expect(await counters(db)).toContainEqual({ kind: 'assignment', value: 3 })
  })
})
