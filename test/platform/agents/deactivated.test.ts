// A deactivated agent is blocked at every door, its running engine learns it as it learns a stop, and its attempts are kept.
import type { Agent, Evaluation, IncidentList, LogList, PolicyList, Problem, StopList, TraceAnswer } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

const timestamp = '2026-01-05T09:00:00Z'
const register = async (agent_key: string) => {
  const body = { agent_key, owner_id: 'o', purpose: 'p' }
  return (await platform.call<Agent>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
}
const deactivate = (agent_id: string) => platform.call('DELETE', `/api/v1/agents/${agent_id}`)
const reactivate = (agent_id: string) => platform.call('POST', `/api/v1/agents/${agent_id}/reactivate`)
const hosted = async (agent_id: string, intended: object) => {
  const body = { intended, context: { agent_id } }
  return (await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })).body
}
const incidents = async (agent_id: string) =>
  (await platform.call<IncidentList>('GET', `/api/v1/incidents?agent_id=${agent_id}`)).body.incidents.filter(
    ({ rule_type }) => rule_type === 'stopped',
  )
const stepsOf = async (task_id: string) => {
  const { logs } = (await platform.call<LogList>('GET', `/api/v1/logs?task_id=${task_id}`)).body
  return logs.toSorted((a, b) => a.seq - b.seq).map(({ step_type }) => step_type)
}

describe('a deactivated agent', () => {
  it('is blocked by hosted evaluation with the reason and who can reactivate it, and may end its task', async () => {
    const agent_id = await register('hosted')
    await deactivate(agent_id)
    const answer = await hosted(agent_id, { step_type: 'step.exec', verb: 'POST' })
    expect([answer.blocked, answer.reason]).toEqual([true, '`Deactivated agents` blocks: the agent is deactivated'])
    // The remedy names who can lift it, and gives an agent no call to make.
    const { remedy } = answer.violations[0]?.violation_details ?? {}
    expect([remedy?.includes('owner, admin or member'), remedy?.includes('/api/')]).toEqual([true, false])
    expect((await hosted(agent_id, { step_type: 'task.end' })).blocked).toBe(false)
    await reactivate(agent_id)
    expect((await hosted(agent_id, { step_type: 'step.model', verb: 'POST' })).blocked).toBe(false)
  })

  it('is not in the list of stops, and its policy cannot be changed', async () => {
    await deactivate(await register('unlisted'))
    expect((await platform.call<StopList>('GET', '/api/v1/stops')).body).toMatchObject({ stops: [], total: 0 })
    const { policies } = (await platform.call<PolicyList>('GET', '/api/v1/policies?rule_type=stopped')).body
    expect(policies.map(({ name }) => name)).toEqual(['Deactivated agents'])
    const path = `/api/v1/policies/${policies[0]?.id}`
    for (const [method, at] of [
      ['POST', `${path}/disable`],
      ['DELETE', path],
    ] as const) {
      const { status, body } = await platform.call<Problem>(method, at)
      expect([status, body.code, body.detail]).toEqual([409, 'MANAGED_BY_STOP', expect.stringContaining('/reactivate')])
    }
  })

  it('has its trace kept: what it obeyed makes no incident, what ran makes a critical one', async () => {
    const agent_id = await register('traced')
    await deactivate(agent_id)
    const send = async (steps: readonly object[]) => {
      const body = { agent_key: 'traced', steps: steps.map((step) => ({ task_id: 'kept', timestamp, ...step })) }
      const answer = await platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', body })
      return answer.body.results.map(({ status }) => status)
    }
    const obeyed = [
      { step: 1, step_type: 'step.exec', verb: 'POST', output: { status: 'blocked' } },
      { step: 2, step_type: 'task.error' },
      { step: 3, step_type: 'task.end' },
    ]
    expect(await send(obeyed)).toEqual([201, 201, 201])
    expect(await incidents(agent_id)).toEqual([])
    expect(await send(obeyed)).toEqual([200, 200, 200])
    const ran = { task_id: 'ran', step: 1, step_type: 'step.exec', verb: 'POST', output: { status: 'ok' } }
    expect(await send([ran])).toEqual([201])
    expect(await incidents(agent_id)).toMatchObject([{ severity: 'critical', effect: 'executed', occurrences: 1 }])
    const entry = { agent_key: 'traced', task_id: 'ran', step: 2, step_type: 'step.exec', timestamp }
    const refused = await platform.call<Problem>('POST', '/api/v1/logs', { as: 'key', body: entry })
    expect([refused.status, refused.body.code]).toEqual([403, 'AGENT_DEACTIVATED'])
    expect(await stepsOf('kept')).toEqual(['step.exec', 'task.error', 'task.end'])
    expect(await stepsOf('ran')).toEqual(['step.exec'])
    await expectEqualVerdicts(platform)
  })
})

describe('the engine of an agent that is deactivated', () => {
  let serve: Serve
  afterAll(() => serve?.discard())

  it('blocks its running task, delivers the attempts, and allows again after the agent is reactivated', async () => {
    const agent_id = await register('desk')
    const env = { SVC_API_URL: platform.url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: 'desk' }
    serve = await startServe([], {}, env)
    const context = { agent_id: 'desk', task_id: 'running', environment: 'development' }
    const intended = { step_type: 'step.model', verb: 'POST' }
    const evaluate = async () => (await serve.post<Evaluation>('/evaluate', { intended, context })).body
    const record = (step: object) =>
      serve.post('/record', { step: { agent_id: 'desk', task_id: 'running', ...intended, ...step } })
    expect((await evaluate()).blocked).toBe(false)
    await record({ output: { status: 'ok' } })
    await deactivate(agent_id)
    await vi.waitFor(async () => expect((await evaluate()).blocked).toBe(true), soon)
    const { reason } = await evaluate()
    expect(reason).toBe('`Deactivated agents` blocks: the agent is deactivated')
    await record({ output: { status: 'blocked' } })
    const all = ['step.model', 'step.model', 'task.error', 'task.end']
    await vi.waitFor(async () => expect(await stepsOf('running')).toEqual(all), soon)
    await vi.waitFor(async () => {
      const { body } = await serve.call<{ trace: { waiting_lines: number } }>('GET', '/health')
      expect(body.trace.waiting_lines).toBe(0)
    }, soon)
    await reactivate(agent_id)
    const later = { intended, context: { ...context, task_id: 'later' } }
    await vi.waitFor(
      async () => expect((await serve.post<Evaluation>('/evaluate', later)).body.blocked).toBe(false),
      soon,
    )
  })
})
