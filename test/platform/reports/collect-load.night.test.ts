// Reports of many entries while the platform answers requests: prints times, memory and the p95 of answers, and asserts none of them.
// `SVC_REPORT_ENTRIES=1000000 npx vitest run --project night test/platform/reports/collect-load.night.test.ts`
// With SVC_REPORT_FOLDER the filled databases are kept there for later runs; a server then needs SVC_REPORT_DATABASE_URL.
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '@svc/platform'
import { afterAll, describe, expect, it } from 'vitest'
import { openDatabase, withSnapshot, withUnscopedTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { fillForReports } from '../../support/reports/report-fill.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { type PlatformProcess, serverKey, startProcess } from '../../support/server/process.js'
import { untilDone } from '../../support/server/soon.js'

const entries = Number(process.env.SVC_REPORT_ENTRIES ?? 6_000)
const formats = (process.env.SVC_REPORT_FORMATS ?? 'json,pdf').split(',')
const kinds = (process.env.SVC_REPORT_DATABASES ?? 'postgresql,pglite').split(',')
const { SVC_REPORT_FOLDER: kept, SVC_REPORT_DATABASE_URL: kept_url } = process.env
const agents = 20
const postgres = await sharedPostgres()
const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

type Call = <T>(method: string, path: string, body?: object, as?: 'key') => Promise<T>

function callsOf({ url, operator_token, api_key }: PlatformProcess): Call {
  return async <T>(method: string, path: string, body?: object, as?: 'key') => {
    const authorization = `Bearer ${as === 'key' ? api_key : operator_token}`
    const headers = { authorization, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`)
    return (text.startsWith('{') ? JSON.parse(text) : text) as T
  }
}

async function registerAll(call: Call): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < agents; index++) {
    const agent = { agent_key: `agent-${index}`, name: `Agent ${index}` }
    ids.push((await call<{ agent_id: string }>('POST', '/api/v1/agents', agent, 'key')).agent_id)
    await logStep(call, ids.at(-1) ?? '', `first-${index}`, 1)
  }
  return ids
}

function logStep(call: Call, agent_id: string, task_id: string, step: number) {
  const body = { agent_id, task_id, step, step_type: 'step.model', timestamp: new Date().toISOString() }
  return call('POST', '/api/v1/logs', body, 'key')
}

async function agentsOf(call: Call): Promise<string[]> {
  const { agents: rows } = await call<{ agents: { agent_id: string }[] }>('GET', '/api/v1/agents?limit=100')
  return rows.map(({ agent_id }) => agent_id)
}

function folderOf(kind: string): string {
  if (kept !== undefined) return join(kept, `${kind}-${entries}`)
  const folder = mkdtempSync(join(tmpdir(), 'svc-report-'))
  folders.push(folder)
  return folder
}

async function fillNew(env: Readonly<Record<string, string>>): Promise<void> {
  const first = await startProcess(env)
  const ids = await registerAll(callsOf(first))
  await first.terminate()
  await fill(env, ids)
}

async function fill(env: Readonly<Record<string, string>>, agent_ids: readonly string[]): Promise<void> {
  const db = await openDatabase(readConfig({ ...env, SVC_ENCRYPTION_KEY: serverKey }).value)
  const [org] = await withUnscopedTransaction(db, (tx) => tx.query<{ org_id: string }>('select org_id from org_log'))
  const scope = scopeOf(org?.org_id ?? '', { kind: 'system', id: 'test' })
  const [set] = await withSnapshot(db, scope, (tx) =>
    tx.query<{ policy_set: string; policy_id: number }>(
      `select e.policy_set, (s.body::json->0->>'id')::int as policy_id from log_entries e
       join policy_sets s on s.org_id = e.org_id and s.digest = e.policy_set limit 1`,
    ),
  )
  await fillForReports(db, scope, {
    entries,
    agent_ids,
    policy_set: set?.policy_set ?? '',
    policy_id: set?.policy_id ?? 0,
  })
  if (db.kind === 'postgresql') await db.pool.query('vacuum analyze')
  await db.close()
}

/** MiB. */
function memoryOf(pid: number): number {
  const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Math.round(Number(kib) / 1024)
}

/** Processor time of all threads of a process, in seconds. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) / 100
}

async function makeUnderLoad(platform: PlatformProcess, call: Call, agent_id: string, format: string) {
  const to = new Date(Date.now() - 1000).toISOString()
  const times = new Map<string, number[]>()
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const start = performance.now()
    await work()
    times.set(name, [...(times.get(name) ?? []), performance.now() - start])
  }
  const idle = memoryOf(platform.pid)
  const before = processorTime(platform.pid)
  let highest = 0
  let step = 0
  const start = performance.now()
  const period = { from: '2020-01-01T00:00:00Z', to }
  const { id } = await untilDone(() => call<{ id: string }>('POST', '/api/v1/reports', { ...period, format }))
  for (;;) {
    step += 1
    await timed('POST /logs', () => logStep(call, agent_id, `load-${format}-${to}`, step))
    await timed('GET /livez', () => call('GET', '/livez'))
    await timed('GET /incidents', () => call('GET', '/api/v1/incidents?limit=20'))
    highest = Math.max(highest, memoryOf(platform.pid))
    const report = await call<{ status: string; bytes: number; error: string | null }>('GET', `/api/v1/reports/${id}`)
    if (report.status === 'failed') throw new Error(report.error ?? '')
    if (report.status === 'ready') {
      const seconds = (performance.now() - start) / 1000
      const p95 = Object.fromEntries([...times].map(([name, own]) => [name, shown(own, 0.95)]))
      const processor = Math.round(10 * (processorTime(platform.pid) - before)) / 10
      return {
        format,
        seconds: Math.round(seconds * 10) / 10,
        processor,
        bytes: report.bytes,
        idle,
        highest,
        p95,
        requests: step,
      }
    }
    await setTimeout(20)
  }
}

function shown(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return Math.round(10 * (sorted[Math.ceil(sorted.length * share) - 1] ?? 0)) / 10
}

describe.each(kinds.map((kind) => ({ kind })))('a report of many entries on $kind', ({ kind }) => {
  it.skipIf(kind === 'postgresql' && postgres === null)(
    'is made while requests are answered',
    async () => {
      const data_dir = folderOf(kind)
      const url = kind === 'postgresql' ? { SVC_DATABASE_URL: kept_url ?? postgres?.freshDatabase() ?? '' } : {}
      const env = { SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_CHECKPOINT_SECONDS: '1', ...url }
      const seeding = performance.now()
      if (!existsSync(join(data_dir, 'credentials.json'))) await fillNew(env)
      const seeded = Math.round((performance.now() - seeding) / 1000)
      const platform = await startProcess(env)
      const call = callsOf(platform)
      const ids = await agentsOf(call)
      for (let size = 0; size < entries; await setTimeout(500))
        size = (await call<{ size: number }>('GET', '/api/v1/log/checkpoint').catch(() => ({ size: 0 }))).size
      for (const format of formats) {
        const made = await makeUnderLoad(platform, call, ids[0] ?? '', format)
        console.log(JSON.stringify({ kind, entries, seeded, ...made }))
        expect(made.bytes).toBeGreaterThan(1000)
      }
      await platform.terminate()
    },
    7_200_000,
  )
})
