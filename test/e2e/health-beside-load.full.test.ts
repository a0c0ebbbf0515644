// The default installation under load: writers, health checks, jobs, a monitor, and a stop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { readConfig } from '@svc/platform'
import type { JobList, PlatformReadiness } from '@svc/schemas'
import { afterAll, expect, it, vi } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../platform/db/db.js'
import { readExposition } from '../support/http/exposition.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'

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
    tx.query(`insert into jobs (name, data) select 'prune-log', '{}' from generate_series(1, ${waitingJobs})`),
  )
  await db.close()
}

it(
  'answers every write and every health check beside jobs, and ends when it is asked to',
  async () => {
    await fillQueue()
    platform = await startProcess({ SVC_DATA_DIR: data_dir, SVC_PORT: '0', SVC_DRAIN_SECONDS: '5' })
    const answers = new Map<string, number>()
    const texts: string[] = []
    const call = async (what: string, path: string, init: RequestInit = {}) => {
      const status = await fetch(platform.url + path, { ...init, signal: AbortSignal.timeout(hungMs) }).then(
        async (response) => {
          const text = await response.text()
          if (what === 'scrape') texts.push(text)
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
    /** Two scrapers, each four times a second. */
    const scrape = async () => {
      while (Date.now() < end) {
        await call('scrape', '/metrics')
        await setTimeout(250)
      }
    }
    await Promise.all([check(), scrape(), scrape(), ...Array.from({ length: writers }, (_, writer) => write(writer))])
    const operator = { headers: { authorization: `Bearer ${platform.operator_token}` } }
    const { running, jobs } = (await (await fetch(`${platform.url}/api/v1/jobs`, operator)).json()) as JobList
    const left = jobs[0]?.waiting ?? waitingJobs
    expect([running, jobs.flatMap(({ last_failed_at }) => last_failed_at ?? [])]).toEqual([true, []])
    expect(left).toBeLessThan(waitingJobs)
    const scraped = texts.map(readExposition)
    const entries = scraped.map((values) => values.get('svc_log_entries_total') ?? 0)
    expect(entries.at(-1)).toBeGreaterThan(entries[0] ?? 0)
    expect(scraped.at(-1)?.get('svc_jobs_waiting{queue="prune-log"}')).toBeGreaterThan(0)
    const stopped = performance.now()
    const ended = platform.terminate()
    const ready = async () => {
      const answer = await fetch(`${platform.url}/readyz`)
      return [answer.status, ((await answer.json()) as PlatformReadiness).not_ready]
    }
    await vi.waitFor(async () => expect(await ready()).toEqual([503, ['stopping']]), { timeout: 4_900, interval: 20 })
    expect((await fetch(`${platform.url}/livez`)).status).toBe(200)
    expect(await ended).toBe(0)
    console.log(
      Object.fromEntries(answers),
      `${waitingJobs - left} jobs, `,
      `stopped in ${Math.round(performance.now() - stopped)} ms`,
    )
    expect([...answers.keys()].sort()).toEqual(['/api/v1/agents 201', '/api/v1/logs 201', 'check 200', 'scrape 200'])
  },
  (seconds + 300) * 1000,
)
