// The time of every page of every list, over a million entries in 50,000 tasks, on a server and on the embedded database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PGlite } from '@electric-sql/pglite'
import pg from 'pg'
import { entriesOf, othersOf } from '../support/http/list-fill.js'
import { deepCursor, type ListPage, listsOf, pagesOf } from '../support/http/list-pages.js'
import { startPostgres } from '../support/server/postgres.js'
import { startProcess } from '../support/server/process.js'
import type { Row } from './main.js'

const built = (file: string) => import(new URL(`../../../platform/dist/${file}`, import.meta.url).href)

const entries = 1_000_000
const sizes = { agents: 1000, events: 500_000, incidents_per_task: 2 }
const rounds = Number(process.env.SVC_BENCH_ROUNDS ?? 20)
const barMs = 50

export function benchLists(): Promise<Row[]> {
  return onBothDatabases(onDatabase)
}

type Measure = (kind: string, env: Readonly<Record<string, string>>) => Promise<Row>

/** A row of each database: of a server that is made for it, if there is one, and of the embedded one; SVC_BENCH_DATABASE names one of them. */
export async function onBothDatabases(measure: Measure): Promise<Row[]> {
  const wanted = process.env.SVC_BENCH_DATABASE
  const rows: Row[] = []
  if (wanted !== 'pglite') rows.push(...(await onServer(measure)))
  if (wanted !== 'postgresql') rows.push(await measure('pglite', {}))
  return rows
}

async function onServer(measure: Measure): Promise<Row[]> {
  const postgres = await startPostgres('-c fsync=off')
  if (postgres === null) return []
  const row = await measure('postgresql', { SVC_DATABASE_URL: postgres.emptyDatabase() })
  await postgres.remove()
  return [row]
}

async function onDatabase(kind: string, env: Readonly<Record<string, string>>): Promise<Row> {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const all = { ...env, SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_CHECKPOINT_SECONDS: '0' }
  // The first start makes the workspace.
  await (await startProcess(all)).terminate()
  const org_id = await fill(all)
  const platform = await startProcess(all)
  const headers = { authorization: `Bearer ${platform.operator_token}` }
  const ask = async (path: string, query: Readonly<Record<string, string>>) => {
    const text = new URLSearchParams(query).toString()
    const response = await fetch(`${platform.url}${path}?${text}`, { headers })
    const body = await response.text()
    if (response.status !== 200) throw new Error(`${path}?${text}: ${response.status} ${body}`)
    return body
  }
  const trivial = await measure(ask, { path: '/livez' }, {})
  const measured = await measureAll(ask, org_id)
  await platform.terminate()
  rmSync(data_dir, { recursive: true })
  return rowOf(kind, measured, trivial.best)
}

async function fill(env: Readonly<Record<string, string>>): Promise<string> {
  const run = await connect(env)
  const [log] = (await run('select org_id, size from org_log')) as { org_id: string; size: number }[]
  const { org_id = '', size = 0 } = log ?? {}
  await run(entriesOf(org_id, entries, 20, Number(size), sizes))
  await run(othersOf(org_id, { policies: 20_000, few: 1000 }))
  await run('vacuum analyze')
  await run('')
  return org_id
}

/** Runs statements that take longer than the platform waits for any; an empty one closes the database. */
export async function connect({
  SVC_DATABASE_URL: connectionString,
  SVC_DATA_DIR: data_dir = '',
}: Readonly<Record<string, string>>) {
  if (connectionString !== undefined) {
    const client = new pg.Client({ connectionString })
    await client.connect()
    return async (text: string) => {
      if (text === '') await client.end()
      return text === '' ? [] : (await client.query(text)).rows
    }
  }
  const pglite = await PGlite.create({ dataDir: join(data_dir, 'pg') })
  return async (text: string) => {
    if (text === '') await pglite.close()
    return text === '' ? [] : ((await pglite.exec(text))[0]?.rows ?? [])
  }
}

type Ask = (path: string, query: Readonly<Record<string, string>>) => Promise<string>

interface Measured {
  readonly page: string
  readonly p95: number
  /** Beside other work on the machine the best time tells more than the others. */
  readonly best: number
}

async function measureAll(ask: Ask, org_id: string): Promise<Measured[]> {
  const { routes } = (await built('routes.js')) as typeof import('../../platform/routes.js')
  const measured: Measured[] = []
  // Lists that only a person may read have no pages.
  for (const list of listsOf(routes).filter(({ access }) => access.kinds.includes('operator')))
    for (const page of pagesOf(list, org_id)) {
      const limit = list.query?.limit as { readonly maximum?: number } | undefined
      const largest = { ...page.query, ...(limit?.maximum !== undefined && { limit: String(limit.maximum) }) }
      measured.push(await measure(ask, page, largest))
      const { next_cursor = null, total = entries } = JSON.parse(await ask(page.path, largest))
      const cursor = next_cursor === null ? null : deepCursor(next_cursor, total)
      if (cursor !== null) measured.push(await measure(ask, page, { ...largest, cursor }))
    }
  return measured
}

async function measure(
  ask: Ask,
  { path }: Pick<ListPage, 'path'>,
  query: Readonly<Record<string, string>>,
): Promise<Measured> {
  const times: number[] = []
  // The first request is a warm-up and not counted.
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now()
    await ask(path, query)
    if (round > 0) times.push(performance.now() - start)
  }
  const p95 = times.sort((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? 0
  const page = `${path}?${new URLSearchParams(query)}`
  const best = times[0] ?? 0
  if (process.env.SVC_BENCH_PAGES === '1') console.log(`${p95.toFixed(1)} ms (best ${best.toFixed(1)})  ${page}`)
  return { page, p95, best }
}

function rowOf(kind: string, measured: readonly Measured[], trivial: number): Row {
  const slowest = measured.toSorted((a, b) => b.p95 - a.p95)
  const over = slowest.filter(({ p95 }) => p95 > barMs).length
  const best = Math.max(...measured.map((page) => page.best))
  return {
    what: `slowest of ${measured.length} list pages, p95, 1 million entries, ${kind}`,
    measured: `${slowest[0]?.p95.toFixed(1)} ms; best times up to ${best.toFixed(1)} ms`,
    reference: slowest[0]?.page ?? '',
    ratio: `${over} above; ${(best / trivial).toFixed(0)} × /livez`,
    bar: `≤ ${barMs} ms`,
  }
}
