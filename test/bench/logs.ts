// Steps per second that the platform logs, compared with bare Express that answers a constant and, for batches, with
// `unnest` inserts of the same rows.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BatchAnswer } from '@svc/schemas'
import autocannon from 'autocannon'
import pg from 'pg'
import { freePort, startPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import type { Row } from './main.js'

const seconds = 6
const connections = 64

export async function benchLogs(): Promise<Row[]> {
  const bare = await bareExpress()
  const postgres = await startPostgres()
  const rows = await benchOn('PGlite', {}, bare, null)
  if (postgres === null) return rows
  const url = postgres.emptyDatabase()
  rows.push(...(await benchOn('PostgreSQL', { SVC_DATABASE_URL: url }, bare, await unnestRate(url))))
  rows.push(await benchCheckpoints(() => ({ SVC_DATABASE_URL: postgres.emptyDatabase() })))
  await postgres.remove()
  return rows
}

/** Two platforms of this build in alternation, one of which signs its log every second. */
async function benchCheckpoints(database: () => Record<string, string>): Promise<Row> {
  const rates = { on: [] as number[], off: [] as number[] }
  const [on, off] = [
    await startBench({ ...database(), SVC_CHECKPOINT_SECONDS: '1' }),
    await startBench({ ...database(), SVC_CHECKPOINT_SECONDS: '0' }),
  ]
  for (let round = 0; round < checkpointRounds; round++) {
    rates.on.push(await singleRate(on.platform))
    rates.off.push(await singleRate(off.platform))
  }
  await on.stop()
  await off.stop()
  const [with_them, without] = [median(rates.on), median(rates.off)]
  return {
    what: 'POST /logs with a checkpoint every second, PostgreSQL',
    measured: `${with_them.toFixed(0)} /s`,
    reference: `without any ${without.toFixed(0)} /s`,
    ratio: (with_them / without).toFixed(2),
    bar: '≥ 0.9',
  }
}

const checkpointRounds = 3

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0
}

/** A platform with an agent, on its own data directory. */
export async function startBench(env: Record<string, string>) {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const platform = await startProcess({
    SVC_DATA_DIR: data_dir,
    SVC_PORT: String(await freePort()),
    SVC_LOG_LEVEL: 'error',
    ...env,
  })
  await post(platform, '/api/v1/agents', { agent_key: 'bench', declared_tools: ['book_reservation'] })
  const stop = async () => {
    await platform.terminate()
    rmSync(data_dir, { recursive: true, force: true })
  }
  return { platform, stop }
}

async function benchOn(
  kind: string,
  database: Record<string, string>,
  bare: number,
  unnest: number | null,
): Promise<Row[]> {
  const { platform, stop } = await startBench(database)
  const single = await singleRate(platform)
  const batch = await batchRate(platform)
  await stop()
  return [
    {
      what: `POST /logs, 64 connections, ${kind}`,
      measured: `${single.toFixed(0)} /s`,
      reference: `bare Express ${bare.toFixed(0)} /s`,
      ratio: (single / bare).toFixed(2),
      bar: kind === 'PGlite' ? '–' : '≥ 0.4',
    },
    {
      what: `POST /logs/batch of 500, ${kind}`,
      measured: `${batch.toFixed(0)} rows/s`,
      reference: unnest === null ? '–' : `unnest insert ${unnest.toFixed(0)} rows/s`,
      ratio: unnest === null ? '–' : (batch / unnest).toFixed(2),
      bar: unnest === null ? '–' : '≥ 0.4',
    },
  ]
}

export const entry = (task_id: string, step: number) => ({
  task_id,
  step,
  step_type: step === 1 ? 'START_NODE' : 'step.resource',
  timestamp: new Date(Date.UTC(2026, 0, 5) + step * 1000).toISOString(),
  verb: 'POST',
  step_name: 'book_reservation',
  input: { user_id: 'mia_li_3668', flight: 'HAT136', seat: '12A' },
  properties: { target: { trust: 'internal', host: 'booking.example' } },
})

/** Each connection writes its own task, one step at a time. */
async function singleRate({ url, api_key }: PlatformProcess): Promise<number> {
  let task = 0
  const run = `bench-${Math.round(performance.now())}`
  const result = await autocannon({
    url: `${url}/api/v1/logs`,
    connections,
    duration: seconds,
    method: 'POST',
    headers: { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' },
    setupClient: (client) => {
      const task_id = `${run}-${task++}`
      let step = 1
      const next = () => client.setBody(JSON.stringify(entry(task_id, step++)))
      next()
      client.on('response', next)
    },
  })
  if (result.non2xx > 0) throw new Error(`${result.non2xx} requests failed`)
  return result.requests.average
}

async function batchRate(platform: PlatformProcess): Promise<number> {
  const started = performance.now()
  let rows = 0
  for (let batch = 0; performance.now() - started < seconds * 1000; batch++) {
    const entries = Array.from({ length: 500 }, (_, index) => entry(`batch-${batch}`, index + 1))
    const { results } = await post<BatchAnswer>(platform, '/api/v1/logs/batch', { entries })
    rows += results.filter((result) => result.status === 201).length
  }
  return rows / ((performance.now() - started) / 1000)
}

/** Inserts of rows of the size of a log entry and its payload, 500 per commit: the limit of the database. */
async function unnestRate(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(
    'create table bare (org_id text, log_index bigint, record text, body text, primary key (org_id, log_index))',
  )
  const record = 'r'.repeat(1300)
  const body = 'b'.repeat(1700)
  const started = performance.now()
  let rows = 0
  for (; performance.now() - started < seconds * 500; rows += 500) {
    const indexes = Array.from({ length: 500 }, (_, index) => rows + index)
    await client.query("insert into bare select 'org', * from unnest($1::bigint[], $2::text[], $3::text[])", [
      indexes,
      indexes.map(() => record),
      indexes.map(() => body),
    ])
  }
  await client.end()
  return rows / ((performance.now() - started) / 1000)
}

async function bareExpress(): Promise<number> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./bare-express.js', import.meta.url))], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  const result = await autocannon({
    url: line.toString().trim(),
    connections,
    duration: seconds,
    method: 'POST',
    body: JSON.stringify(entry('bench', 1)),
    headers: { authorization: 'Bearer SvcKey-x', 'content-type': 'application/json' },
  })
  await stop(child)
  return result.requests.average
}

async function stop(child: ChildProcess): Promise<void> {
  child.kill()
  await once(child, 'close')
}

export async function post<T>({ url, api_key }: PlatformProcess, path: string, body: unknown): Promise<T> {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return (await response.json()) as T
}
