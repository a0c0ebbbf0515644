// An engine that is killed again and again under load, with a quiet task that had reached its limit before.
import { Agent, request } from 'node:http'
import type { EngineHealth, Evaluation } from '@svc/schemas'
import { expect, vi } from 'vitest'
import { soon } from '../server/soon.js'
import { answerWith, platformAgent } from './changing-source.js'
import { type Serve, startServe } from './serve.js'
import { startTracePlatform } from './trace-platform.js'

const writers = 8
const limit = 2

const policies = answerWith([
  {
    manifest_id: 'm_1',
    sha: 'a'.repeat(40),
    policies: [
      {
        name: 'at most two payments',
        rule_type: 'execution_max_steps',
        params: { step_type: 'step.exec', max_steps: limit },
        severity: 'critical',
        scope: 'step_execution',
      },
    ],
  },
])

/** Records a step; null when the engine was killed before it answered. */
function recordOn({ url }: Serve, agent: Agent, task_id: string, step_type: string): Promise<number | null> {
  const body = JSON.stringify({ step: { task_id, step_type, input: { text: 'x'.repeat(500) } } })
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    const sent = request(`${url}/record`, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => {
        text += chunk.toString()
      })
      response.on('error', () => resolve(null))
      response.on('end', () => resolve(response.statusCode === 200 ? Number(JSON.parse(text).step) : null))
    })
    sent.on('error', () => resolve(null))
    sent.end(body)
  })
}

/** Kills the engine so many times while eight writers record, each on one task; returns what must hold after each start. */
export async function killUnderLoad(kills: number) {
  const platform = await startTracePlatform({ policies, numbers_only: true })
  let serve = await startServe([], {}, platform.env)
  const last = new Map<string, number>()
  const wrong: string[] = []
  const states: unknown[] = []
  const write = async (engine: Serve, agent: Agent, task_id: string) => {
    for (;;) {
      const step = await recordOn(engine, agent, task_id, 'step.model')
      if (step === null) return
      if (step <= (last.get(task_id) ?? 0)) wrong.push(`step ${step} of ${task_id} after ${last.get(task_id)}`)
      last.set(task_id, step)
    }
  }
  const askQuiet = async () => {
    const context = { agent_id: platformAgent.agent_key, task_id: 'quiet', environment: 'test' }
    const { body } = await serve.post<Evaluation>('/evaluate', { intended: { step_type: 'step.exec' }, context })
    return { blocked: body.blocked, code: body.violations[0]?.violation_details?.code, lost: body.history_lost }
  }
  try {
    const first = new Agent()
    for (let step = 1; step <= limit; step++) await recordOn(serve, first, 'quiet', 'step.exec')
    states.push(await askQuiet())
    for (let kill = 1; kill <= kills; kill++) {
      const agent = new Agent({ keepAlive: true, maxSockets: writers })
      const written = () => [...last.values()].reduce((sum, step) => sum + step, 0)
      const before = written()
      const work = Array.from({ length: writers }, (_, index) => write(serve, agent, `busy ${index}`))
      await vi.waitFor(() => expect(written()).toBeGreaterThan(before + 400), { ...soon, interval: 1 })
      serve.signal('SIGKILL')
      await Promise.all(work)
      agent.destroy()
      serve = await serve.restart()
      states.push(await askQuiet())
    }
    await vi.waitFor(
      async () => {
        const { body } = await serve.call<EngineHealth>('GET', '/health')
        expect(body.trace).toMatchObject({ waiting_lines: 0 })
      },
      { ...soon, interval: 50 },
    )
    const arrived = [...platform.tasks].map(([task, numbers]) => [task, numbers.length, numbers.at(-1)] as const)
    for (const [task, count, number] of arrived) if (count !== number) wrong.push(`${task}: ${count} of ${number}`)
    for (const [task, step] of last)
      if ((platform.tasks.get(task)?.length ?? 0) < step) wrong.push(`${task} lacks steps up to ${step}`)
    return { states, wrong, gaps: [...platform.gaps.values()], faults: platform.faults, err: serve.printed().err }
  } finally {
    await serve.discard()
    await platform.stop()
  }
}

/** The quiet task after each start. */
export const stillBlocked = { blocked: true, code: 'TOO_MANY_STEPS', lost: undefined }
