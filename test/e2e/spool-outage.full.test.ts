// Steps through the spool of `svc serve` while the platform is away half of the time: none is lost, none is stored twice.
// SVC_SPOOL_STEPS=1000000 SVC_OUTAGE_SECONDS=20 SVC_STEPS_PER_TASK=100 for the large run.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import type { EngineHealth, TaskList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../support/engine/serve.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { type SiteProcess, siteProcess } from '../support/server/site-process.js'
import { soon } from '../support/server/soon.js'

const steps = Number(process.env.SVC_SPOOL_STEPS ?? 4000)
const outageMs = Number(process.env.SVC_OUTAGE_SECONDS ?? 3) * 1000
const stepsPerTask = Number(process.env.SVC_STEPS_PER_TASK ?? 50)
const tasks = Math.ceil(steps / stepsPerTask)
const connections = 16
const mebibyte = 1024 * 1024
/** The senders wait while more than this waits for the platform, bytes: half of what the spool may hold. */
const maxWaiting = 256 * mebibyte
/** At any time: what may wait and what is kept of that which has arrived; the same number of tasks has this bar in `npm run bench`. */
const max = { disk: (512 + 64 + 16) * mebibyte, rss: 300 * mebibyte }
/** Tasks that are verified step by step; of all others the number of steps is compared. */
const maxVerified = 2000

describe(`${steps} steps with the platform away half of the time`, () => {
  let platform: PlatformProcess
  let serve: Serve
  let site: SiteProcess
  beforeAll(async () => {
    site = await siteProcess({ SVC_RATE_LIMIT_KEY: '0' })
    platform = await startProcess(site.env)
    await site.asKey('POST', 'agents', { agent_key: 'busy', owner_id: 'o', purpose: 'p' })
    serve = await startServe([], {}, site.bind('busy'))
  })
  afterAll(async () => {
    await serve.discard()
    await platform.terminate()
  })

  const waiting = async () => (await serve.call<EngineHealth>('GET', '/health')).body.trace

  it('arrive once and in order, in bounded memory and disk', async () => {
    const start = performance.now()
    const most = { disk: 0, rss: 0, waiting: 0 }
    const slowest = { up: 0, away: 0 }
    const outages = { count: 0, seconds: 0 }
    let is_away = false
    let is_recorded = false
    let is_delivered = false
    const watch = async () => {
      while (!is_delivered) {
        const { waiting_bytes } = await waiting()
        most.waiting = Math.max(most.waiting, waiting_bytes ?? 0)
        most.disk = Math.max(most.disk, bytesBelow(join(serve.folder, 'data')))
        most.rss = Math.max(most.rss, rssOf(serve.pid ?? 0))
        await pause(250)
      }
    }
    const interrupt = async () => {
      for (; !is_recorded; outages.count++) {
        await pauseUntil(() => is_recorded, outageMs)
        const begin = performance.now()
        is_away = true
        // A crash and a stop in turn.
        if (outages.count % 2 === 0) await platform.kill9()
        else await platform.terminate()
        await pauseUntil(() => is_recorded, outageMs)
        platform = await startProcess(site.env)
        is_away = false
        outages.seconds += (performance.now() - begin) / 1000
      }
    }
    const watching = watch()
    const interrupting = interrupt()
    await sendAll(serve.port, async (ms) => {
      const kind = is_away ? 'away' : 'up'
      slowest[kind] = Math.max(slowest[kind], ms)
      while (most.waiting > maxWaiting && ((await waiting()).waiting_bytes ?? 0) > maxWaiting) await pause(100)
    })
    const recorded = secondsSince(start)
    is_recorded = true
    await interrupting
    await drained(async () => (await waiting()).waiting_lines ?? 0)
    const delivered = secondsSince(start)
    is_delivered = true
    await watching
    expect(await waiting()).toMatchObject({ waiting_lines: 0, dropped: 0, rejected: 0 })
    console.log(
      `${steps} steps, ${tasks} tasks: recorded after ${recorded} s, delivered after ${delivered} s, ${outages.count} outages of ` +
        `${Math.round(outages.seconds)} s in all; svc serve took at most ${mib(most.disk)} on disk, ${mib(most.waiting)} of it ` +
        `waiting, and ${mib(most.rss)} of memory; slowest /record ${slowest.up.toFixed(1)} ms, ` +
        `${slowest.away.toFixed(1)} ms with the platform away`,
    )
    expect(most.disk).toBeLessThan(max.disk)
    expect(most.rss).toBeLessThan(max.rss)
    await assertAll()
  })

  /** Each task has its steps once, in order, and verifies. */
  async function assertAll() {
    const seen = new Map<string, number>()
    for (let skip = 0; skip < tasks; skip += 100) {
      const page = await site.asOperator<TaskList>('GET', `logs/tasks?limit=100&skip=${skip}`)
      expect(page.total).toBe(tasks)
      for (const { task_id, step_count, status } of page.tasks) {
        expect([task_id, step_count, status]).toEqual([task_id, stepsPerTask, 'completed'])
        seen.set(task_id, step_count)
      }
    }
    expect(seen.size).toBe(tasks)
    const chosen = [...seen.keys()].filter((_, index) => index % Math.ceil(tasks / maxVerified) === 0)
    for (const task_id of chosen) {
      const verified = await site.asOperator<Verification>('GET', `tasks/${task_id}/verify`)
      expect([task_id, verified.valid, verified.sequence.issues]).toEqual([task_id, true, []])
    }
  }
})

/** Waits until nothing is left; rejects when nothing has arrived for long. */
async function drained(left: () => Promise<number>): Promise<void> {
  let last = Number.POSITIVE_INFINITY
  for (let end = Date.now() + soon.timeout; ; await pause(soon.interval)) {
    const now = await left()
    if (now === 0) return
    if (now < last) end = Date.now() + soon.timeout
    else if (Date.now() > end) throw new Error(`${now} lines still wait for the platform`)
    last = now
  }
}

/** Records the steps of all tasks, a task on one connection at a time. */
async function sendAll(port: number, recorded: (ms: number) => Promise<void>): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  let next = 0
  const work = async () => {
    for (let task = next++; task < tasks; task = next++)
      for (let step = 1; step <= stepsPerTask; step++) {
        const step_type = step === 1 ? 'task.start' : step === stepsPerTask ? 'task.end' : 'step.model'
        const start = performance.now()
        const answer = await record(agent, port, { task_id: `task-${task}`, step_type, input: { prompt: `p ${step}` } })
        expect(answer).toEqual({ step, task_id: `task-${task}` })
        await recorded(performance.now() - start)
      }
  }
  await Promise.all(Array.from({ length: connections }, work))
  agent.destroy()
}

function record(agent: Agent, port: number, step: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const sent = request({ agent, port, host: '127.0.0.1', path: '/record', method: 'POST', headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('end', () => resolve(JSON.parse(text)))
    })
    sent.on('error', reject)
    sent.end(JSON.stringify({ step }))
  })
}

function bytesBelow(folder: string): number {
  let sum = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    try {
      sum += entry.isDirectory() ? bytesBelow(path) : statSync(path).size
    } catch {
      // It was deleted meanwhile.
    }
  }
  return sum
}

/** Resident memory of a process, bytes. */
function rssOf(pid: number): number {
  const [, kib = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(kib) * 1024
}

const mib = (bytes: number) => `${Math.round(bytes / mebibyte)} MiB`

const secondsSince = (start: number) => Math.round((performance.now() - start) / 1000)

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function pauseUntil(isOver: () => boolean, ms: number): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end && !isOver(); ) await pause(Math.min(100, ms))
}
