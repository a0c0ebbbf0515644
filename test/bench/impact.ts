// The impact of a change of a manifest on 10,000 recorded tasks, and what the API answers meanwhile, in the same process.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { MadeAssignment, RegisteredAgent, RepositoryList } from '@svc/schemas'
import { startPostgres } from '../support/server/postgres.js'
import { serverKey } from '../support/server/process.js'
import type { FillCommand, ImpactCommand, Measured } from './impact-platform.js'
import { entry } from './logs.js'
import type { Row } from './main.js'

const tasks = 10_000
const steps = 30
const agents = 8
/** Requests per second, half of them writes. */
const rate = 40
const manifest_path = 'compliance/financial-services.yaml'

const policy = (name: string, rule_type: string, params: object, severity: string) =>
  `  - ${JSON.stringify({ name, rule_type, params, severity, scope: 'step_execution' })}\n`
const desk = { target_step_names: ['book_reservation'] }
const changed = `name: Booking desk\nversion: "1"\npolicies:\n${[
  policy('Bookings follow a model', 'step_requires_predecessor', { required_step_type: 'step.model', ...desk }, 'high'),
  policy(
    'Amounts',
    'field_in_range',
    { field: 'input.amount', min: 0, max: 500, target_step_types: ['step.resource'] },
    'critical',
  ),
  policy('Few calls of models', 'execution_max_steps', { step_type: 'step.model', max_steps: 50 }, 'high'),
  policy('Slowly', 'step_rate_limit', { step_type: 'step.resource', max_steps: 300, window_seconds: 60 }, 'medium'),
  policy('No card numbers', 'pii_in_request', { patterns: ['[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{4}'] }, 'critical'),
  policy('Accounts need a gate', 'step_requires_gate', { target_step_names: ['close_account'] }, 'critical'),
  policy('Names', 'field_matches_regex', { field: 'step_name', pattern: '[a-z_]+$', ...desk }, 'low'),
  policy('Passengers', 'length_at_most', { field: 'input.passengers', max: 4 }, 'low'),
].join('')}`

export async function benchImpact(): Promise<Row[]> {
  const rows = await benchOn('PGlite', {})
  const postgres = await startPostgres()
  if (postgres === null) return rows
  const server = { SVC_DATABASE_URL: postgres.emptyDatabase(), SVC_ENCRYPTION_KEY: serverKey }
  rows.push(...(await benchOn('PostgreSQL', server)))
  await postgres.remove()
  return rows
}

interface Started {
  readonly url: string
  readonly api_key: string
  readonly operator_token: string
}

async function benchOn(kind: string, database: Readonly<Record<string, string>>): Promise<Row[]> {
  const data_dir = mkdtempSync(join(tmpdir(), 'svc-bench-'))
  const env = { PATH: process.env.PATH, SVC_DATA_DIR: data_dir, SVC_CHECKPOINT_SECONDS: '0', SVC_LOG_LEVEL: 'error' }
  const child = fork(fileURLToPath(new URL('./impact-platform.js', import.meta.url)), { env: { ...env, ...database } })
  const [platform] = (await once(child, 'message')) as [Started]
  const { agent_ids, repo_id } = await prepare(platform)
  await ask(child, { fill: { agent_ids, tasks, steps } })
  await requests(platform, setTimeout(2000))
  const quiet = await requests(platform, setTimeout(5000))
  const impact = ask<Measured>(child, { impact: { repo_id, manifest_path, text: changed, tasks } })
  const busy = await requests(platform, impact)
  const measured = await impact
  child.send('stop')
  await once(child, 'exit')
  rmSync(data_dir, { recursive: true })
  return rowsOf(kind, measured, quiet, busy)
}

function rowsOf(kind: string, { report, seconds, cpu, peak, before }: Measured, quiet: Times, busy: Times): Row[] {
  const { newly_blocked_tasks } = report
  if (report.tasks < tasks || newly_blocked_tasks < tasks / 20) throw new Error(JSON.stringify(report, null, 1))
  const per_second = Math.round(report.steps / seconds).toLocaleString('en')
  const row = (what: string, measured: string, reference: string, ratio: string, bar: string) => {
    return { what: `${what}, ${kind}`, measured, reference, ratio, bar }
  }
  const times = (list: readonly number[]) => `p50 ${at(list, 0.5)}, p95 ${at(list, 0.95)}, most ${at(list, 1)} ms`
  const compared = (what: string, one: keyof Times) =>
    row(what, times(busy[one]), `before: ${times(quiet[one])}`, `${busy[one].length} requests`, 'p95 < 50 ms')
  return [
    row(
      `impact on ${report.tasks.toLocaleString('en')} tasks of ${steps} steps, 24 policies`,
      `${seconds.toFixed(1)} s`,
      `${per_second} steps/s, CPU ${cpu.toFixed(1)} s`,
      `${newly_blocked_tasks} tasks newly blocked`,
      '< 20 s',
    ),
    row('impact, memory', `${Math.round(peak)} MiB at most`, `before ${Math.round(before)} MiB`, '–', '–'),
    compared('GET /livez beside an impact', 'livez'),
    compared('POST /logs beside an impact', 'logs'),
  ]
}

/** The time in ms that this share of the requests took at most. */
function at(times: readonly number[], share: number): string {
  const sorted = [...times].sort((a, b) => a - b)
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)
}

/** Agents with the baseline and a manifest of the library. */
async function prepare({ url, api_key, operator_token }: Started) {
  const call = async <T>(method: string, path: string, key: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const { repos } = await call<RepositoryList>('GET', '/api/v1/repos', operator_token)
  const repo_id = repos.find(({ provider }) => provider === 'bundled')?.id ?? 0
  const agent_ids: string[] = []
  for (let index = 0; index < agents; index += 1) {
    const agent = { agent_key: `agent-${index}` }
    const { agent_id } = await call<RegisteredAgent>('POST', '/api/v1/agents', api_key, agent)
    await call<MadeAssignment>('POST', '/api/v1/assignments', operator_token, { agent_id, repo_id, manifest_path })
    agent_ids.push(agent_id)
  }
  await call('POST', '/api/v1/agents', api_key, { agent_key: 'client' })
  return { agent_ids, repo_id }
}

async function ask<T>(child: ChildProcess, command: FillCommand | ImpactCommand): Promise<T> {
  child.send(command)
  const [answer] = (await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => Promise.reject(new Error(`the platform ended with ${code}`))),
  ])) as [T]
  return answer
}

interface Times {
  readonly livez: number[]
  readonly logs: number[]
}

/** Sends requests at a steady rate until the work is done: the time of each, ms, from when it was due. */
async function requests({ url, api_key }: Started, work: Promise<unknown>): Promise<Times> {
  const times: Times = { livez: [], logs: [] }
  const run = `client-${Math.round(performance.now())}`
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const sent: Promise<void>[] = []
  const send = async (due: number, index: number) => {
    const body = JSON.stringify({ ...entry(`${run}-${index}`, 1), agent_key: 'client' })
    const isWrite = index % 2 === 0
    const response = isWrite
      ? await fetch(`${url}/api/v1/logs`, { method: 'POST', headers, body })
      : await fetch(`${url}/livez`)
    await response.text()
    if (!response.ok) throw new Error(`answered ${response.status}`)
    times[isWrite ? 'logs' : 'livez'].push(performance.now() - due)
  }
  const state = { running: true }
  const done = work.finally(() => {
    state.running = false
  })
  const start = performance.now()
  for (let index = 0; state.running; index += 1) {
    const due = start + (index * 1000) / rate
    await setTimeout(Math.max(0, due - performance.now()))
    sent.push(send(due, index))
  }
  await Promise.all(sent)
  await done
  return times
}
