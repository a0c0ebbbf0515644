// The default installation under load: writers, health checks, jobs, a monitor, and a stop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '@svc/platform'
import type { JobList } from '@svc/schemas'
import { afterAll, expect, it } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../platform/db/db.js'
import { type PlatformProcess, startProcess } from '../support/process.js'

const seconds = Number(process.env.SVC_LOAD_SECONDS ?? 10)
const writers = 8
const checksPerSecond = 50
/** More than run in the time. */
const waitingJobs = 20_000
/** An answer that takes longer counts as missing. */
const hungMs = 15_000

const data_dir = mkdtempSync(join(tmpdir(), 'svc-load-'))
afterAll(() => rmSync(data_dir, { recursive: true, force: true }))

let platform: PlatformProcess
afterAll(() => platform?.kill9())

/** Fills the queue of a job of the platform, which runs one after another. */
async function fillQueue() {
  await (await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: '0' })).terminate()
  const db = await openDatabase(readConfig({ SVC_DATA_DIR: data_dir }).value)
  await withUnscopedTransaction(db, (tx) =>
    tx.query(`insert into svc_jobs.job (name, data) select 'prune-log', '{}' from generate_series(1, ${waitingJobs})`),
  )
  await db.close()
}

it(
  'answers every write and every health check beside jobs, and ends when it is asked to',
  async () => {
    await fillQueue()
    platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: '0' })
    const answers = new Map<string, number>()
    const call = async (what: string, path: string, init: RequestInit = {}) => {
      const status = await fetch(platform.url + path, { ...init, signal: AbortSignal.timeout(hungMs) }).then(
        async (response) => {
          await response.arrayBuffer()
          return response.status
        },
        (error: Error) => error.name,
      )
      answers.set(`${what} ${status}`, (answers.get(`${what} ${status}`) ?? 0) + 1)
    }
    const headers = { authorization: `Bearer ${platform.api_key}`, 'content-type': 'application/json' }
    const post = (path: string, body: unknown) =>
      call(path, path, { method: 'POST', headers, body: JSON.stringify(body) })
    await post('/api/v1/agents', { agent_key: 'loaded' })
    const end = Date.now() + seconds * 1000
    const write = async (writer: number) => {
      for (let step = 1; Date.now() < end; step++) {
        const step_type = step === 1 ? 'task.start' : 'step.model'
        await post('/api/v1/logs', { task_id: `t-${writer}`, step, step_type, timestamp: new Date().toISOString() })
      }
    }
    const check = async () => {
      const pending: Promise<void>[] = []
      const paths = ['/health', '/readyz', '/health', '/livez']
      for (let count = 0; Date.now() < end; count++) {
        pending.push(call('check', paths[count % paths.length] ?? ''))
        await setTimeout(1000 / checksPerSecond)
      }
      await Promise.all(pending)
    }
    await Promise.all([check(), ...Array.from({ length: writers }, (_, writer) => write(writer))])
    const operator = { headers: { authorization: `Bearer ${platform.operator_token}` } }
    const { running, jobs } = (await (await fetch(`${platform.url}/api/v1/jobs`, operator)).json()) as JobList
    const left = jobs[0]?.waiting ?? waitingJobs
    expect([running, jobs.flatMap(({ last_failed_at }) => last_failed_at ?? [])]).toEqual([true, []])
    expect(left).toBeLessThan(waitingJobs)
    const stopped = performance.now()
    expect(await platform.terminate()).toBe(0)
    console.log(
      Object.fromEntries(answers),
      `${waitingJobs - left} jobs, `,
      `stopped in ${Math.round(performance.now() - stopped)} ms`,
    )
    expect([...answers.keys()].sort()).toEqual(['/api/v1/agents 201', '/api/v1/logs 201', 'check 200'])
  },
  (seconds + 90) * 1000,
)
