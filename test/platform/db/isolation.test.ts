// Row-level security isolates tenants: the application's role sees the rows of one organization, or none.

import { readConfig } from '@svc/platform'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, withSnapshot, withTransaction, withUnscopedTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const other = 'org_00000000000000000000000000000000'

describe.each(['pglite', 'postgresql'] as const)('the application role on %s', (kind) => {
  if (kind === 'postgresql' && postgres === null) return it.skip('needs a server', () => undefined)
  const database_url = kind === 'postgresql' ? (postgres?.freshDatabase() ?? null) : null
  let db: Awaited<ReturnType<typeof openDatabase>>
  let tables: string[]
  let org_id: string
  let remove: () => Promise<void>
  beforeAll(async () => {
    const platform = await startPlatform({ database_url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 3)
    await platform.call('POST', '/api/v1/holds', { body: { reason: 'a test' } })
    await platform.close()
    db = await openDatabase(readConfig(platform.env).value)
    const rows = await withUnscopedTransaction(db, (tx) =>
      tx.query<{ name: string }>(
        `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
         where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`,
      ),
    )
    tables = rows.map(({ name }) => name)
    const [row] = await withUnscopedTransaction(db, (tx) =>
      tx.query<{ org_id: string }>('select org_id from organizations'),
    )
    org_id = row?.org_id ?? ''
    remove = async () => {
      await db.close()
      await discard({ ...platform, close: async () => undefined })
    }
  })
  afterAll(() => remove())

  it('is limited to one organization in every table of tenants', async () => {
    expect(tables.length).toBeGreaterThan(20)
    const unprotected = await withUnscopedTransaction(db, (tx) =>
      tx.query(`select relname from pg_class where relname = any($1) and not relrowsecurity`, [tables]),
    )
    expect(unprotected).toEqual([])
  })

  it('sees no rows before the organization is set', async () => {
    const counts = await withUnscopedTransaction(db, async (tx) => {
      await tx.query('set local role svc_app')
      const found: [string, number][] = []
      for (const table of tables) {
        const [row] = await tx.query<{ count: number }>(`select count(*)::int as count from ${table}`)
        if (row?.count !== 0) found.push([table, row?.count ?? -1])
      }
      return found
    })
    expect(counts).toEqual([])
  })

  it('sees the rows of the organization that is set, and no others', async () => {
    const count = (scope: string) =>
      withSnapshot(db, scopeOf(scope, { kind: 'system', id: 'test' }), async (tx) => {
        const [row] = await tx.query<{ count: number }>('select count(*)::int as count from log_entries')
        return row?.count
      })
    expect([await count(org_id), await count(other)]).toEqual([3, 0])
  })

  it.each([
    ['insert', `insert into organizations (org_id, name, kind, created_at) values ('${other}', 'x', 'shared', now())`],
    ['move a row', `update log_leaves set org_id = '${other}'`],
    ['create a table', 'create table mine (x int)'],
    ['disable it', 'alter table log_entries disable row level security'],
    ['rewrite events', `update events set kind = 'nothing'`],
    ['delete events', 'delete from events'],
    ['read the identity of the log', 'select * from svc_log_identity'],
    ['read a partition', `select * from log_entries_${new Date().toISOString().slice(0, 7).replace('-', '')}`],
  ])('cannot %s', async (_, statement) => {
    const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
    await expect(withTransaction(db, scope, (tx) => tx.query(statement))).rejects.toBeInstanceOf(pg.DatabaseError)
  })

  it('cannot be circumvented by functions that every user can execute', async () => {
    const functions = await withUnscopedTransaction(db, (tx) =>
      tx.query<{ name: string; is_public: boolean; is_definer: boolean; settings: string[] | null }>(
        `select p.proname as name, p.prosecdef as is_definer, p.proconfig as settings,
           exists (select 1 from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
             where a.grantee = 0 and a.privilege_type = 'EXECUTE') as is_public
         from pg_proc p where p.proname like 'svc\\_%'`,
      ),
    )
    expect(functions.map(({ name }) => name)).toContain('svc_ensure_month')
    expect(functions.filter(({ is_public }) => is_public)).toEqual([])
    // A function with the rights of its owner must not find tables of its caller.
    for (const { settings } of functions.filter(({ is_definer }) => is_definer))
      expect(settings).toEqual(['search_path=public, pg_temp'])
  })

  it('ends with its transaction', async () => {
    await withTransaction(db, scopeOf(org_id, { kind: 'system', id: 'test' }), async () => undefined)
    const [row] = await withUnscopedTransaction(db, (tx) =>
      tx.query<{ role: string; org: string }>(
        `select current_user as role, current_setting('app.org_id', true) as org`,
      ),
    )
    expect(row?.role).not.toBe('svc_app')
    expect(row?.org ?? '').toBe('')
  })
})

describe.skipIf(postgres === null)('a database user without superuser rights', () => {
  if (postgres === null) return
  const admin = postgres.emptyDatabase()
  const name = admin.split('/').at(-1) ?? ''
  const url = admin.replace('svc@', 'plain@')

  it('gets the statements that an administrator must run, and then starts', async () => {
    postgres.psql(admin, `create role plain login; alter database ${name} owner to plain`)
    // The role exists already on this server; this user is not a member of it.
    await expect(startPlatform({ database_url: url })).rejects.toThrow(/svc_app/)
    postgres.psql(admin, 'grant svc_app to plain')
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 3)
    const { body } = await platform.call<{ total: number }>('GET', '/api/v1/logs/tasks')
    expect(body.total).toBe(1)
    expect(postgres.psql(url, 'set role svc_app; select count(*) from log_entries')).toContain('0')
    await discard(platform)
  })
})
