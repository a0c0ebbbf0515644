// The default installation with many recorded tasks: a check beside writers, probes and a monitor, and a stop in the middle of it.
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '@svc/platform'
import type { MadeAssignment, RegisteredAgent, RepositoryList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../platform/db/db.js'
import { tasksOf } from '../support/http/task-fill.js'
import {
  type AppProcess,
  type Connected,
  eventually,
  openAppProcess,
  payments,
  runsOf,
} from '../support/server/app-process.js'
import { sharedPostgres } from '../support/server/postgres.js'
import { serverKey } from '../support/server/process.js'

const tasks = Number(process.env.SVC_LOAD_TASKS ?? 3000)
const steps = 30
const agents = 8
const amounts = (max: number) =>
  payments(max).replace('target_step_names: [pay]', 'target_step_names: [book_reservation]')

const postgres = await sharedPostgres()
describe.each([
  { kind: 'pglite', more: () => ({}) },
  ...(postgres === null
    ? []
    : [
        {
          kind: 'postgresql',
          more: () => ({ SVC_DATABASE_URL: postgres.freshDatabase(), SVC_ENCRYPTION_KEY: serverKey }),
        },
      ]),
])(`a check with ${tasks} recorded tasks on $kind`, ({ kind, more }) => {
  let app: AppProcess
  let policies: Connected
  beforeAll(async () => {
    app = await openAppProcess([], { SVC_CHECKPOINT_SECONDS: '0', ...more() })
    policies = await app.connect('acme', { 'a.yaml': amounts(700) })
    const { repos } = await app.get<RepositoryList>('/api/v1/repos?provider=github')
    const repo_id = repos[0]?.id ?? 0
    const ids: string[] = []
    for (let index = 0; index < agents; index += 1) {
      const { agent_id } = await post<RegisteredAgent>('/api/v1/agents', { agent_key: `agent-${index}` }, 'api_key')
      await post<MadeAssignment>(
        '/api/v1/assignments',
        { agent_id, repo_id, manifest_path: 'a.yaml' },
        'operator_token',
      )
      ids.push(agent_id)
    }
    await post('/api/v1/agents', { agent_key: 'client' }, 'api_key')
    await app.platform.terminate()
    await fill(ids)
    await app.start()
  })
  afterAll(() => app?.close())

  const post = async <T>(path: string, body: object, key: 'api_key' | 'operator_token'): Promise<T> => {
    const headers = { authorization: `Bearer ${app.platform[key]}`, 'content-type': 'application/json' }
    const response = await fetch(app.platform.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return (await response.json()) as T
  }
  const fill = async (ids: readonly string[]) => {
    const db = await openDatabase(readConfig({ ...app.env }).value)
    const [row] = await withUnscopedTransaction(db, (tx) =>
      tx.query<{ org_id: string; size: number }>('select org_id, size::int from org_log'),
    )
    await db.pool.query(tasksOf(row?.org_id ?? '', ids, tasks, steps, row?.size ?? 0))
    await db.pool.query('analyze')
    await db.close()
  }

  const open = (branch: string, max: number) =>
    app.github.openPull(policies.repository, { branch, files: { 'a.yaml': amounts(max) } })
  const isDone = (head_sha: string) => runsOf(app.github, head_sha).some(({ status }) => status === 'completed')

  it('answers everything meanwhile', async () => {
    await answers(app, setTimeout(2000))
    const quiet = await answers(app, setTimeout(5000))
    const pull = open('one', 500)
    const start = performance.now()
    const busy = await answers(
      app,
      eventually('the check is completed', () => isDone(pull.head_sha)),
    )
    const seconds = (performance.now() - start) / 1000
    console.log(
      kind,
      `check of ${tasks} tasks: ${seconds.toFixed(1)} s\nbefore ${wordsOf(quiet)}\nduring ${wordsOf(busy)}`,
    )
    expect([...busy.statuses].sort()).toEqual(['200', '201'])
    const [run] = runsOf(app.github, pull.head_sha)
    expect(run?.title).toContain(`${tasks.toLocaleString('en')} recorded tasks of 8 agents replayed`)
  })

  it('ends within seconds in the middle of it, and the check is completed after the next start', async () => {
    const pull = open('two', 400)
    await eventually('the check has begun', () => runsOf(app.github, pull.head_sha).length > 0)
    const start = performance.now()
    expect(await app.platform.terminate()).toBe(0)
    console.log(
      kind,
      `stopped in ${Math.round(performance.now() - start)} ms`,
      runsOf(app.github, pull.head_sha).map(({ status, title }) => [status, title]),
    )
    await app.start()
    // Until then it says that nothing is known.
    await eventually('the check has its result', () => runsOf(app.github, pull.head_sha)[0]?.conclusion === 'success')
    expect(runsOf(app.github, pull.head_sha).map(({ status }) => status)).toEqual(['completed'])
  })
})

interface Answers {
  readonly statuses: Set<string>
  readonly times: Record<string, number[]>
}

/** Writes 20 steps, 10 probes of each kind and 2 pages of a list a second until the work is done; times from when each was due. */
async function answers({ platform }: AppProcess, work: Promise<unknown>): Promise<Answers> {
  const found: Answers = { statuses: new Set(), times: {} }
  const run = `run-${Math.round(performance.now())}`
  const ask = async (what: string, due: number, path: string, key: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) }
    const status = await fetch(platform.url + path, { ...init, signal: AbortSignal.timeout(15_000) }).then(
      async (response) => {
        await response.arrayBuffer()
        return String(response.status)
      },
      (error: Error) => error.name,
    )
    found.statuses.add(status)
    found.times[what] ??= []
    found.times[what].push(performance.now() - due)
  }
  const state = { running: true }
  const done = work.finally(() => {
    state.running = false
  })
  const sent: Promise<void>[] = []
  const start = performance.now()
  for (let index = 0; state.running; index += 1) {
    const due = start + index * 50
    await setTimeout(Math.max(0, due - performance.now()))
    const entry = {
      task_id: `${run}-${index}`,
      step: 1,
      step_type: 'task.start',
      agent_key: 'client',
      timestamp: new Date().toISOString(),
    }
    sent.push(ask('logs', due, '/api/v1/logs', platform.api_key, entry))
    if (index % 2 === 0)
      for (const path of ['/livez', '/readyz', '/health']) sent.push(ask(path.slice(1), due, path, platform.api_key))
    if (index % 10 === 0) sent.push(ask('list', due, '/api/v1/logs/tasks?limit=50', platform.operator_token))
  }
  await Promise.all(sent)
  await done
  return found
}

function wordsOf({ times }: Answers): string {
  const at = (list: readonly number[], share: number) =>
    (list.toSorted((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * share))] ?? 0).toFixed(1)
  return Object.entries(times)
    .map(([what, list]) => `${what} p50 ${at(list, 0.5)} p95 ${at(list, 0.95)} most ${at(list, 1)} ms (${list.length})`)
    .join(', ')
}
