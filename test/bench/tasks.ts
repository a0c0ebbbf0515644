// The time to verify a task, and to read its chain, among a million other entries, and that of /livez beside it. The database has
// no statistics of them, as after an import.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { entriesOf } from '../support/http/list-fill.js'
import { startPostgres } from '../support/server/postgres.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { connect } from './lists.js'
import type { Row } from './main.js'

const entries = Number(process.env.SVC_BENCH_ENTRIES ?? 1_000_000)
const rounds = Number(process.env.SVC_BENCH_ROUNDS ?? 5)
const batch = 500
/** Steps of the tasks, with the bar for their verification, ms. */
const tasks = [
  [20, 50],
  [10_000, 2000],
] as const

export async function benchTasks(): Promise<Row[]> {
  const wanted = process.env.SVC_BENCH_DATABASE
  const rows: Row[] = []
  if (wanted !== 'pglite') rows.push(...(await onServer()))
  if (wanted !== 'postgresql') rows.push(...(await onDatabase('pglite', {})))
  return rows
}

async function onServer(): Promise<Row[]> {
  // Without autovacuum the measurement does not depend on when it runs.
  const postgres = await startPostgres('-c fsync=off -c autovacuum=off')
  if (postgres === null) return []
  const rows = await onDatabase('postgresql', { SVC_DATABASE_URL: postgres.emptyDatabase() })
  await postgres.remove()
  return rows
}

async function onDatabase(kind: string, env: Readonly<Record<string, string>>): Promise<Row[]> {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const all = { ...env, SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_CHECKPOINT_SECONDS: '0' }
  // The first start makes the workspace.
  await (await startProcess(all)).terminate()
  const run = await connect(all)
  const [log] = (await run('select org_id, size from org_log')) as { org_id: string; size: number }[]
  await run(entriesOf(log?.org_id ?? '', entries, 20, Number(log?.size ?? 0)))
  await run('')
  const platform = await startProcess(all)
  await send(platform, '/api/v1/agents', { agent_key: 'bench' })
  const rows: Row[] = []
  for (const [steps, bar] of tasks) {
    await logTask(platform, steps)
    for (const what of ['verify', 'chain']) rows.push(await row(platform, { kind, what, steps, bar }))
  }
  await platform.terminate()
  rmSync(data_dir, { recursive: true })
  return rows
}

async function logTask(platform: PlatformProcess, steps: number): Promise<void> {
  for (let from = 0; from < steps; from += batch) {
    const numbers = Array.from({ length: Math.min(batch, steps - from) }, (_, at) => from + at + 1)
    await send(platform, '/api/v1/logs/batch', { entries: numbers.map((step) => stepOf(`bench ${steps}`, step)) })
  }
}

const stepOf = (task_id: string, step: number) => ({
  agent_key: 'bench',
  task_id,
  step,
  step_type: step === 1 ? 'task.start' : 'step.resource',
  step_name: 'book_reservation',
  timestamp: '2026-02-20T09:00:00Z',
  input: { reservation_id: 'Q1', amount: step, note: 'a seat at the window\n'.repeat(4) },
})

async function send({ url, api_key }: PlatformProcess, path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok || text.includes('"error"')) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`)
}

interface Measurement {
  readonly kind: string
  readonly what: string
  readonly steps: number
  readonly bar: number
}

async function row(platform: PlatformProcess, { kind, what, steps, bar }: Measurement): Promise<Row> {
  const { url, operator_token } = platform
  const headers = { authorization: `Bearer ${operator_token}` }
  const times: number[] = []
  const probes: number[] = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    let ended = false
    const answer = fetch(`${url}/api/v1/tasks/${encodeURIComponent(`bench ${steps}`)}/${what}`, { headers })
      .then(async (response) => {
        const text = await response.text()
        if (!response.ok || (what === 'verify' && !text.includes('"valid":true')))
          throw new Error(`${what}: ${response.status} ${text.slice(0, 300)}`)
        return performance.now() - start
      })
      .finally(() => {
        ended = true
      })
    while (!ended) probes.push(await probe(url))
    times.push(await answer)
  }
  const [best, slowest] = [Math.min(...times), Math.max(...probes)]
  return {
    what: `${what} of a task of ${steps} steps, ${entries} entries without statistics, ${kind}`,
    measured: `${best.toFixed(0)} ms (slowest ${Math.max(...times).toFixed(0)})`,
    reference: `/livez beside it at most ${slowest.toFixed(0)} ms`,
    ratio: '',
    bar: `≤ ${bar} ms`,
  }
}

async function probe(url: string): Promise<number> {
  const start = performance.now()
  await (await fetch(`${url}/livez`)).text()
  return performance.now() - start
}
