// A task that continues on an engine whose data directory is new, such as a container that was replaced: its history is the one of the log.
import type { Evaluation, JsonMap, RegisteredAgent, TaskChain } from '@svc/schemas'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { callsOf } from '../../support/engine/task-calls.js'
import { assign } from '../../support/http/assign.js'
import { fast } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

const payment = { step_type: 'step.exec', step_name: 'pay' }
const manifest = `name: Payments
version: '1'
policies:
  - name: at most two payments
    rule_type: execution_max_steps
    params: { step_type: step.exec, max_steps: 2 }
    severity: critical
    scope: step_execution
`
const atLimit = { blocked: true, code: 'TOO_MANY_STEPS', history_lost: undefined }
const lost = { blocked: true, code: 'HISTORY_LOST', history_lost: true }
const allowed = { blocked: false, code: undefined, history_lost: undefined }

let platform: TestPlatform
let agent_id: string
let engines: Serve[] = []
beforeAll(async () => {
  const first = await startPlatform({ env: fast })
  const { body } = await first.call<RegisteredAgent>('POST', '/api/v1/agents', {
    as: 'key',
    body: { agent_key: 'desk' },
  })
  agent_id = body.agent_id
  platform = await assign(first, agent_id, manifest)
})
afterAll(() => discard(platform))
afterEach(async () => {
  for (const engine of engines) await engine.discard()
  engines = []
})

/** An engine of the agent with an empty data directory. */
const newEngine = async (url = platform.url) => {
  const engine = await startServe([], {}, { SVC_API_URL: url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: 'desk' })
  engines.push(engine)
  return engine
}
const decisionOf = async (engine: Serve, task_id: string, step: object = payment) => {
  const { blocked, violations, history_lost }: Evaluation = await callsOf(() => engine).evaluate(task_id, step)
  return { blocked, code: violations[0]?.violation_details?.code, history_lost }
}
const recordOn = (engine: Serve, task_id: string, step: object = payment) => callsOf(() => engine).record(task_id, step)
const log = async (task_id: string, step: number, more: JsonMap = {}) => {
  const timestamp = new Date().toISOString()
  const body = { ...payment, agent_id, task_id, step, timestamp, input: { amount: 5 }, ...more }
  expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
}
const stepsInLog = async (task_id: string) => {
  const { body } = await platform.call<TaskChain>('GET', `/api/v1/tasks/${encodeURIComponent(task_id)}/chain`)
  return (body.entries ?? []).map(({ step }) => step)
}
const arrived = (task_id: string, steps: readonly number[]) =>
  vi.waitFor(async () => expect(await stepsInLog(task_id)).toEqual(steps), soon)

describe('a task on an engine with a new data directory', () => {
  it('has the history that another engine has logged, and is numbered on', async () => {
    const first = await newEngine()
    for (const _ of [1, 2]) await recordOn(first, 'moved')
    await arrived('moved', [1, 2])
    const second = await newEngine()
    expect(await decisionOf(second, 'moved')).toEqual(atLimit)
    expect(await recordOn(second, 'moved', { step_type: 'step.model' })).toBe(3)
    await arrived('moved', [1, 2, 3])
    // Its trace has the third step only.
    const again = await second.restart()
    engines.push(again)
    expect(await decisionOf(again, 'moved')).toEqual(atLimit)
    expect(await recordOn(again, 'moved', { step_type: 'step.model' })).toBe(4)
  })

  it.each(['by POST /logs', 'a/b?c=d#e', '..', 'ended'])('has the history of POST /logs: %s', async (task_id) => {
    for (const step of [1, 2]) await log(task_id, step)
    if (task_id === 'ended') await log(task_id, 3, { step_type: 'task.end', step_name: 'end' })
    const engine = await newEngine()
    // The paths `.` and `..` cannot be asked for.
    expect(await decisionOf(engine, task_id)).toEqual(task_id === '..' ? allowed : atLimit)
  })

  it('is new when the log does not have it', async () => {
    const engine = await newEngine()
    expect(await decisionOf(engine, 'unheard of')).toEqual(allowed)
    expect(await recordOn(engine, 'unheard of')).toBe(1)
    // The answer was one, so that the next task is asked for.
    for (const step of [1, 2]) await log('asked for next', step)
    expect(await decisionOf(engine, 'asked for next')).toEqual(atLimit)
    expect(engine.printed().err).not.toContain('count as new')
  })

  it('is not whole when content of a step is erased, or is not in the log', async () => {
    await log('erased', 1)
    const body = { task_id: 'erased', legal_basis: 'a test' }
    expect((await platform.call('POST', '/api/v1/erasures', { body })).status).toBe(201)
    await log('metadata', 1, { meta: { 'svc.payloads': 'metadata_only' } })
    await log('later', 4)
    const engine = await newEngine()
    for (const task_id of ['erased', 'metadata', 'later'])
      expect([task_id, await decisionOf(engine, task_id)]).toEqual([task_id, lost])
  })

  it('is new while the platform does not answer, and the engine reports that once', async () => {
    const stopped = await newEngine()
    const url = platform.url
    await platform.close()
    for (const task_id of ['one', 'two']) expect(await decisionOf(stopped, task_id)).toEqual(allowed)
    const { err } = stopped.printed()
    expect(err.match(/tasks count as new until they can/g)).toHaveLength(1)
    expect(err).toContain(url)
    platform = await platform.restart()
  })
})
