// Query plans of lists: no page reads a large table from end to end, for every list of the routes and every filter, as the role
// that serves requests, on either database.
import { describe, expect, it } from 'vitest'
import { type Database, openDatabase, withSnapshot, withUnscopedTransaction } from '../../../platform/db/db.js'
import { migrate } from '../../../platform/db/migrations/index.js'
import { scopeOf } from '../../../platform/db/scope.js'
import type { Principal } from '../../../platform/http/principal.js'
import { listEvents } from '../../../platform/log/read/store/events.js'
import { routes } from '../../../platform/routes.js'
import { entriesOf, othersOf } from '../../support/http/list-fill.js'
import { deepCursor, type ListPage, listsOf, pagesOf } from '../../support/http/list-pages.js'
import { forEachDatabase } from '../../support/server/postgres.js'

const org_id = 'org_00000000000000000000000000000001'
const person_id = 'usr_1'
const scope = scopeOf(org_id, { kind: 'person', id: person_id })
/** Members may read every list, also those that the operator may not. */
const principal = { kind: 'person', scope, person_id, session_id: 'ses_1', org_id, role: 'admin' } as Principal

const fill = /* sql */ `
insert into organizations values ('${org_id}', 'A', 'shared', '2026-01-01');
insert into org_log (org_id, size, last_received_at) values ('${org_id}', 0, '2026-03-01');
${entriesOf(org_id, 50_000, 10)}
${othersOf(org_id, { policies: 2000, few: 600 })}`

/** The jobs of the installation are not rows of an organization. */
const lists = listsOf(routes).filter(({ path }) => path !== '/api/v1/jobs')
type List = (typeof lists)[number]

const columnOf: Readonly<Record<string, string>> = { kind: 'kind', actor: 'actor_id', subject: 'subject_id' }

/** A table of fewer rows is read from end to end faster than through an index. */
const maxSmall = 1000

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

function scans(plan: Plan): string[] {
  const own = plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []
  return [...own, ...(plan.Plans ?? []).flatMap(scans)]
}

interface PlanRow {
  readonly 'QUERY PLAN': readonly { readonly Plan: Plan }[]
}

/** The database, which also records the tables that each query reads from end to end. */
function explaining(db: Database, found: Set<string>): Database {
  const connect = async () => {
    const connection = await db.pool.connect()
    const query = async (text: string, values?: unknown[]) => {
      if (/^\s*(select|with)\b/.test(text) && !text.includes('set_config')) {
        const { rows } = await connection.query<PlanRow>(`explain (format json) ${text}`, values)
        for (const { Plan } of rows[0]?.['QUERY PLAN'] ?? []) for (const table of scans(Plan)) found.add(table)
      }
      return connection.query(text, values)
    }
    return { query, release: (broken: boolean) => connection.release(broken) }
  }
  return { ...db, pool: { connect } } as unknown as Database
}

/** The tables and partitions with few rows. */
async function smallTables(db: Database): Promise<Set<string>> {
  return withUnscopedTransaction(db, async (tx) => {
    const tables = await tx.query<{ relname: string }>(
      `select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
    const counts = tables.map(({ relname }) => `select '${relname}' as name, count(*)::int as rows from "${relname}"`)
    const rows = await tx.query<{ name: string; rows: number }>(counts.join(' union all '))
    return new Set(rows.filter((table) => table.rows <= maxSmall).map(({ name }) => name))
  })
}

/** The first page of a list, and one in its middle. */
async function readPages(db: Database, { path, query = {}, handle }: List, page: ListPage): Promise<void> {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const found = page.path.match(new RegExp(`^${path.replaceAll(/\{\w+\}/g, '([^/]+)')}$`))?.slice(1) ?? []
  const params = Object.fromEntries(names.map((name, index) => [name, found[index] ?? '']))
  const parts = { db, clock: () => Date.parse('2026-03-01T00:00:00Z'), task_timeout_seconds: 3600 }
  const read = async (more: Readonly<Record<string, string>>) => {
    const limit: Record<string, string> = query.limit === undefined ? {} : { limit: '100' }
    const call = {
      principal,
      scope,
      params,
      query: { ...page.query, ...limit, ...more },
      header: () => undefined,
      body: null,
    }
    const reply = await handle({ ...call, raw: new Uint8Array(), request_id: 'req_1' } as never, parts as never)
    return reply.body as { next_cursor?: string | null; total?: number }
  }
  const { next_cursor, total = 50_000 } = await read({})
  const cursor = next_cursor ? deepCursor(next_cursor, total) : null
  if (cursor !== null) await read({ cursor })
}

await forEachDatabase('lists', ({ fresh }) => {
  describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
    it('read no large table from end to end, for any filter', async () => {
      const db = await openDatabase(fresh())
      try {
        await migrate(db)
        await withUnscopedTransaction(db, (tx) => tx.query(fill))
        if (statistics === 'with statistics') await db.pool.query('vacuum analyze')
        const small = await smallTables(db)
        const read: unknown[] = []
        let count = 0
        for (const list of lists)
          for (const page of pagesOf(list, org_id)) {
            const found = new Set<string>()
            await readPages(explaining(db, found), list, page)
            const large = [...found].filter((table) => !small.has(table))
            if (large.length > 0) read.push([page.path, page.query, large])
            count += 1
          }
        expect(read).toEqual([])
        expect(count).toBeGreaterThan(250)
      } finally {
        await db.close()
      }
    })
  })

  it('count events exactly, for every filter and at every end of a period', async () => {
    const db = await openDatabase(fresh())
    try {
      await migrate(db)
      await withUnscopedTransaction(db, (tx) => tx.query(fill))
      await withUnscopedTransaction(db, (tx) =>
        tx.query(
          `update log_leaves set received_at = received_at + (log_index - 50000) * interval '1 second' where type = 'event'`,
        ),
      )
      const at = (index: number) => new Date(Date.parse('2026-02-28T00:00:00Z') + (index - 50_000) * 1000).toISOString()
      // A part of the counters has 4,096 log indexes: 53,248 is the begin of one.
      const ends = [50_000, 50_001, 53_247, 53_248, 53_249, 57_344, 59_999]
      const periods = ends.flatMap((first) =>
        ends.filter((last) => last >= first).map((last) => [first, last] as const),
      )
      const ofKind = [
        {},
        { kind: 'rare' },
        { kind: 'r' },
        { actor: 'rare-actor' },
        { kind: 'common', actor: 'ingest' },
        { subject: 'inc_7' },
      ]
      for (const filter of ofKind)
        for (const [first, last] of periods) {
          const period = { ...filter, from: at(first), to: at(last) } as Record<string, string>
          const { total } = await withSnapshot(db, scope, (tx) =>
            listEvents(scope, tx, period, { limit: 1, after: null }),
          )
          const own = Object.entries(filter).map(([name, value]) => `${columnOf[name]} = '${value}'`)
          const where = [`log_index between ${first} and ${last}`, ...own].join(' and ')
          const [row] = await withUnscopedTransaction(db, (tx) =>
            tx.query<{ total: number }>(`select count(*)::int as total from events where ${where}`),
          )
          expect([period, total]).toEqual([period, row?.total])
        }
    } finally {
      await db.close()
    }
  })

  it('count tasks exactly after changes in any order', async () => {
    const db = await openDatabase(fresh())
    try {
      await migrate(db)
      await withUnscopedTransaction(db, (tx) => tx.query(fill))
      for (const sql of [
        'update task_heads set has_end = true where last_log_index % 70 = 9',
        "update task_heads set has_error = not has_error, agent_id = 'ag_1' where last_log_index % 110 = 9",
        'delete from task_heads where last_log_index % 130 = 9',
      ])
        await withUnscopedTransaction(db, (tx) => tx.query(sql))
      const [row] = await withUnscopedTransaction(db, (tx) =>
        tx.query<{ wrong: number }>(
          `with counted as (select agent_id, count(*) filter (where not has_end and not has_error) as running,
             count(*) filter (where has_end and not has_error) as completed, count(*) filter (where has_error) as failed
             from task_heads group by 1)
           select count(*)::int as wrong from counted full join task_counts c using (agent_id)
           where (counted.running, counted.completed, counted.failed) is distinct from (c.running, c.completed, c.failed)`,
        ),
      )
      expect(row?.wrong).toBe(0)
    } finally {
      await db.close()
    }
  })

  it('count incidents and their occurrences exactly after changes in any order', async () => {
    const db = await openDatabase(fresh())
    try {
      await migrate(db)
      await withUnscopedTransaction(db, (tx) => tx.query(fill))
      for (const sql of [
        "update incidents set occurrences = occurrences + 2, last_seen = '2026-01-03' where log_index % 70 = 0",
        'update incidents set executed = 1, blocked = 0 where log_index % 110 = 0',
        "update incidents set state = 'ignored', code = 'OTHER' where log_index % 130 = 0",
        'delete from incidents where log_index % 170 = 0',
      ])
        await withUnscopedTransaction(db, (tx) => tx.query(sql))
      const [row] = await withUnscopedTransaction(db, (tx) =>
        tx.query<{ wrong: number; groups: number }>(
          `with counted as (select policy_id, agent_id, code, effect, state, count(*) as incidents, sum(occurrences) as occurrences,
             max(last_seen) as last_seen from incidents group by 1, 2, 3, 4, 5),
           kept as (select policy_id, agent_id, code, effect, state, sum(incidents) as incidents, sum(occurrences) as occurrences,
             max(last_seen) as last_seen from incident_counts group by 1, 2, 3, 4, 5)
           select count(*) filter (where (coalesce(counted.incidents, 0), coalesce(counted.occurrences, 0))
               is distinct from (kept.incidents, kept.occurrences) or kept.last_seen < counted.last_seen)::int as wrong,
             count(*)::int as groups
           from counted full join kept using (policy_id, agent_id, code, effect, state)`,
        ),
      )
      expect(row?.wrong).toBe(0)
      expect(row?.groups).toBeGreaterThan(100)
    } finally {
      await db.close()
    }
  })
})
