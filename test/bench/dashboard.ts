// The time in which the server answers every page and every filter of its lists, over a million entries in 50,000 tasks, and the
// load of the machine meanwhile.
import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Filter } from '../../platform/dashboard/lists/listing.js'
import { entriesOf, othersOf } from '../support/http/list-fill.js'
import { type PlatformProcess, runPlatform, startProcess } from '../support/server/process.js'
import { connect, onBothDatabases } from './lists.js'
import type { Row } from './main.js'

const built = (file: string) => import(new URL(`../../../platform/dist/${file}`, import.meta.url).href)

const entries = Number(process.env.SVC_BENCH_ENTRIES ?? 1_000_000)
const rounds = Number(process.env.SVC_BENCH_ROUNDS ?? 20)
const barMs = 50
/** Of rows that the fill makes. */
const ids: Readonly<Record<string, string>> = {
  '/tasks/': 'run-100',
  '/incidents/': 'inc_7',
  '/agents/': 'ag_3',
}

export function benchDashboard(): Promise<Row[]> {
  return onBothDatabases(onDatabase)
}

async function onDatabase(kind: string, env: Readonly<Record<string, string>>): Promise<Row> {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const all = { ...env, SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_CHECKPOINT_SECONDS: '0' }
  // The first start makes the workspace.
  await (await startProcess(all)).terminate()
  const run = await connect(all)
  const [log] = (await run('select org_id, size from org_log')) as { org_id: string; size: number }[]
  const { org_id = '', size = 0 } = log ?? {}
  await run(entriesOf(org_id, entries, 20, Number(size), { agents: 1000, events: entries / 2, incidents_per_task: 2 }))
  await run(othersOf(org_id, { policies: 20_000, few: 1000 }))
  await run(lastDaysOf(org_id))
  await run('vacuum analyze')
  await run('')
  const platform = await startProcess(all)
  const cookie = await signIn(platform, all)
  const measured: Measured[] = []
  for (const path of await addressesOf()) measured.push(await measure(platform, cookie, path))
  await platform.terminate()
  rmSync(data_dir, { recursive: true })
  return rowOf(kind, measured)
}

/** Counts of the last days, which the overview draws; the entries are of fixed days. */
const lastDaysOf = (org_id: string) => /* sql */ `insert into log_days (org_id, day, steps, violations)
  select '${org_id}', current_date - n, 20000 + n * 100, 100 + n from generate_series(0, 29) n on conflict do nothing`

/** The cookies of a browser of the owner. */
async function signIn({ url }: PlatformProcess, env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runPlatform(['admin', 'sign-in-link', 'owner@localhost'], env)
  if (code !== 0) throw new Error(`no sign-in link: ${stderr}`)
  const link = new URL(stdout.trim())
  const body = new URLSearchParams({ token: link.searchParams.get('token') ?? '' })
  const { headers } = await fetch(url + link.pathname, { method: 'POST', body, redirect: 'manual' })
  return headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}

/** Every page, and every list with each of its presets and filters. Pages of things that the fill does not make are left out. */
async function addressesOf(): Promise<string[]> {
  const { workspacePages } = (await built('dashboard/pages.js')) as typeof import('../../platform/dashboard/pages.js')
  return workspacePages.flatMap(({ path, listing }) => {
    const filled = path.replaceAll(/(\/[^:]*\/):\w+/g, (whole, folder: string) =>
      ids[folder] === undefined ? whole : folder + ids[folder],
    )
    if (filled.includes(':')) return []
    if (typeof listing !== 'object') return [filled]
    const queries = [...(listing.presets ?? []).map(([, query]) => query), ...listing.filters.flatMap(queriesOf)]
    return [filled, ...queries.map((query) => `${filled}?${new URLSearchParams(query)}`)]
  })
}

function queriesOf(filter: Filter): Record<string, string>[] {
  if (filter.kind === 'agent') return []
  const { name } = filter
  if (!('values' in filter)) return [{ [name]: filter.kind === 'day' ? '2026-01-20' : '1' }]
  return filter.values.map((value) => ({ [name]: typeof value === 'string' ? value : value[0] }))
}

interface Measured {
  readonly path: string
  readonly p50: number
  readonly p95: number
}

async function measure({ url }: PlatformProcess, cookie: string, path: string): Promise<Measured> {
  const times: number[] = []
  // The first request is a warm-up and not counted.
  for (let round = 0; round <= rounds; round++) {
    const start = performance.now()
    const response = await fetch(url + path, { headers: { accept: 'text/html', cookie }, redirect: 'manual' })
    const text = await response.text()
    // A page that needs a query answers that it is missing.
    if (response.status >= 500 || response.headers.get('location')?.startsWith('/sign-in'))
      throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`)
    if (round > 0) times.push(performance.now() - start)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.ceil(times.length * share) - 1] ?? 0
  const [p50, p95] = [at(0.5), at(0.95)]
  if (process.env.SVC_BENCH_PAGES === '1')
    console.log(`p50 ${p50.toFixed(1)} ms, p95 ${p95.toFixed(1)} ms, load ${loadavg()[0]?.toFixed(1)}  ${path}`)
  return { path, p50, p95 }
}

function rowOf(kind: string, measured: readonly Measured[]): Row {
  const slowest = measured.toSorted((a, b) => b.p95 - a.p95)
  const [first] = slowest
  const median = Math.max(...measured.map(({ p50 }) => p50))
  return {
    what: `slowest of ${measured.length} pages of the dashboard, p95, ${entries} entries, ${kind}`,
    measured: `${first?.p95.toFixed(1)} ms; medians up to ${median.toFixed(1)} ms`,
    reference: first?.path ?? '',
    ratio: `${slowest.filter(({ p95 }) => p95 > barMs).length} above; load ${loadavg()[0]?.toFixed(1)}`,
    bar: `≤ ${barMs} ms`,
  }
}
