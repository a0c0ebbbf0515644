// An agent in Python, with its standard library alone, behind `svc serve` with a platform that is killed meanwhile: what it did,
// its block and its incident are on the platform, once and in order. SVC_OUTAGE_SECONDS is the length of the outage.
import { execFile, execFileSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { EngineHealth, IncidentList, TaskChain, TaskList, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../support/engine/serve.js'
import { type PlatformProcess, startProcess } from '../support/server/process.js'
import { type SiteProcess, siteProcess } from '../support/server/site-process.js'
import { untilDone } from '../support/server/soon.js'

const agent_key = 'order-desk'
const outageMs = Number(process.env.SVC_OUTAGE_SECONDS ?? 5) * 1000
const program = fileURLToPath(
  new URL(`${import.meta.url.includes('/dist/') ? '../../../' : '../../'}examples/python/agent.py`, import.meta.url),
)

const python = (() => {
  try {
    return execFileSync('python3', ['--version'], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
})()
if (python === null) console.log('skipped: there is no python3')

describe.skipIf(python === null)('an agent in Python behind svc serve with a platform', () => {
  let platform: PlatformProcess
  let serve: Serve
  let site: SiteProcess
  const tasks: string[] = []
  beforeAll(async () => {
    site = await siteProcess()
    platform = await startProcess(site.env)
    await site.asKey('POST', 'agents', { agent_key, owner_id: 'mia', purpose: 'reads orders' })
    serve = await startServe([], {}, site.bind(agent_key))
  })
  afterAll(async () => {
    await serve?.discard()
    await platform?.terminate()
  })

  /** Runs the agent to its end; returns the id of its task. */
  const runAgent = async () => {
    const variables = { PATH: process.env.PATH ?? '', ENGINE_URL: serve.url, SVC_AGENT_KEY: agent_key }
    const printed = await new Promise<string>((resolve, reject) =>
      execFile('python3', [program], { env: variables }, (error, out, err) =>
        error === null ? resolve(out) : reject(new Error(`${out}${err}`)),
      ),
    )
    expect(printed).toContain('refused:')
    const task_id = /^task: (\S+)$/m.exec(printed)?.[1] ?? ''
    tasks.push(task_id)
    return task_id
  }

  const assertOnPlatform = async (task_id: string) => {
    const { entries } = await site.asOperator<TaskChain>('GET', `tasks/${task_id}/chain`)
    expect(entries.map(({ step, step_type, step_name }) => [step, step_type, step_name ?? null])).toEqual([
      [1, 'task.start', null],
      [2, 'step.resource', 'read_orders'],
      [3, 'step.self', 'write_summary'],
      [4, 'step.resource', 'upload'],
      [5, 'task.error', null],
      [6, 'task.end', null],
    ])
    expect(entries[3]?.output).toMatchObject({ status: 'blocked' })
    const verified = await site.asOperator<Verification>('GET', `tasks/${task_id}/verify`)
    expect(verified).toMatchObject({ valid: true, integrity: { ok: true }, sequence: { ok: true, issues: [] } })
    const { incidents } = await site.asOperator<IncidentList>('GET', `incidents?task_id=${task_id}`)
    expect(incidents).toMatchObject([{ policy_name: 'Only declared tools', occurrences: 1, state: 'open', step: 4 }])
  }

  it('leaves its task, its block and its incident on the platform, in a chain that verifies', async () => {
    const task_id = await runAgent()
    await untilDone(() => assertOnPlatform(task_id))
  })

  it('has them there once and in order after the platform was killed for a while, and svc serve was killed as well', async () => {
    await platform.kill9()
    for (let run = 0; run < 3; run++) await runAgent()
    // What /record answered is sent by the next start.
    serve = await serve.restart()
    await runAgent()
    await new Promise((resolve) => setTimeout(resolve, outageMs))
    platform = await startProcess(site.env)
    for (const task_id of tasks) await untilDone(() => assertOnPlatform(task_id))
    const { total } = await site.asOperator<TaskList>('GET', 'logs/tasks')
    expect(total).toBe(tasks.length)
    const { body: health } = await serve.call<EngineHealth>('GET', '/health')
    expect(health.trace).toMatchObject({ location: 'api', waiting_lines: 0, dropped: 0, rejected: 0 })
    await platform.kill9()
  })

  it('gets its answers at once from an engine whose platform accepts connections and never answers', async () => {
    const silent: Server = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(Number(site.env.SVC_PORT), '127.0.0.1', resolve))
    expect((silent.address() as AddressInfo).port).toBe(Number(site.env.SVC_PORT))
    await runAgent()
    const times: number[] = []
    for (let step = 1; step <= 300; step++) {
      const start = performance.now()
      await serve.post('/record', { step: { task_id: 'timed', step_type: step === 1 ? 'task.start' : 'step.model' } })
      times.push(performance.now() - start)
    }
    times.sort((a, b) => a - b)
    console.log(
      `/record beside a silent platform: median ${times[150]?.toFixed(2)} ms, slowest ${times.at(-1)?.toFixed(1)} ms`,
    )
    silent.closeAllConnections()
    await new Promise((resolve) => silent.close(resolve))
    platform = await startProcess(site.env)
    for (const task_id of tasks) await untilDone(() => assertOnPlatform(task_id))
  })
})
