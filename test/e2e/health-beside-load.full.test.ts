// The default installation under load: writers, health checks, a monitor, and a stop.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterAll, expect, it } from 'vitest'
import { type PlatformProcess, startProcess } from '../support/process.js'

const seconds = Number(process.env.SVC_LOAD_SECONDS ?? 10)
const writers = 8
const checksPerSecond = 50
/** An answer that takes longer counts as missing. */
const hungMs = 15_000

const data_dir = mkdtempSync(join(tmpdir(), 'svc-load-'))
afterAll(() => rmSync(data_dir, { recursive: true, force: true }))

let platform: PlatformProcess
afterAll(() => platform?.kill9())

it(
  'answers every write and every health check, and ends when it is asked to',
  async () => {
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
    const stopped = performance.now()
    expect(await platform.terminate()).toBe(0)
    console.log(Object.fromEntries(answers), `stopped in ${Math.round(performance.now() - stopped)} ms`)
    expect([...answers.keys()].sort()).toEqual(['/api/v1/agents 201', '/api/v1/logs 201', 'check 200'])
  },
  (seconds + 90) * 1000,
)
