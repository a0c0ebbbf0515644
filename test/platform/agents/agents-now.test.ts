// The state of agents now, in answers of GET: engines, governance, stops, incidents, last steps and tools.
import type {
  Agent,
  AgentList,
  AgentTools,
  AssignmentList,
  EngineHeartbeat,
  Problem,
  RegisteredAgent,
  Stop,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const minute = 60_000
let now = Date.UTC(2026, 5, 1, 12)
let platform: TestPlatform

beforeAll(async () => {
  platform = await startPlatform({ clock: () => now })
})
afterAll(() => discard(platform))

async function register(agent_key: string, more: object = {}): Promise<string> {
  const answer = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
    as: 'key',
    body: { agent_key, ...more },
  })
  return answer.body.agent_id
}

async function beat(agent_key: string, more: Partial<EngineHeartbeat> = {}): Promise<void> {
  const since = new Date(now - minute).toISOString()
  const body = {
    instance_id: agent_key,
    agent_key,
    load_state: 'enforcing',
    since,
    policy_count: 15,
    version: '1.2.3',
    ...more,
  }
  expect((await platform.call('POST', '/api/v1/engines/heartbeat', { as: 'key', body })).status).toBe(204)
}

const read = async (agent_id: string) => (await platform.call<Agent>('GET', `/api/v1/agents/${agent_id}`)).body

const log = (task_id: string, step: number, agent_key: string, more: object) =>
  platform.call('POST', '/api/v1/logs', {
    as: 'key',
    body: { agent_key, task_id, step, timestamp: new Date(now).toISOString(), ...more },
  })

describe('the state of an agent now', () => {
  it('names the engine, and no governance once the engine is silent', async () => {
    const agent_id = await register('desk')
    expect(await read(agent_id)).toMatchObject({
      engine: { state: 'no_engine', instance_id: null, version: null, policy_count: null, last_seen: null },
      governance: { state: 'unknown', reason: 'no_engine' },
      stopped: false,
      last_step_at: null,
    })
    await beat('desk')
    const last_seen = new Date(now).toISOString()
    const engine = { instance_id: 'desk', version: '1.2.3', policy_count: 15, last_seen }
    expect(await read(agent_id)).toMatchObject({
      engine: { ...engine, state: 'enforcing' },
      governance: { state: 'governed', reason: null },
    })
    now += 3 * minute
    expect(await read(agent_id)).toMatchObject({
      engine: { ...engine, state: 'silent' },
      governance: { state: 'unknown', reason: 'silent' },
    })
  })

  it.each(['none_configured', 'unavailable', 'all_dropped'] as const)(
    'is ungoverned with an engine that is %s',
    async (load_state) => {
      const agent_id = await register(load_state)
      await beat(load_state, { load_state, policy_count: 0 })
      await beat(load_state, { instance_id: 'another' })
      expect(await read(agent_id)).toMatchObject({
        engine: { state: load_state, instance_id: load_state },
        governance: { state: 'ungoverned', reason: load_state },
      })
    },
  )

  it('is idle after the engine stopped, and inactive after a member deactivated the agent', async () => {
    const agent_id = await register('ended')
    await beat('ended', { load_state: 'stale_cache' })
    expect((await read(agent_id)).governance).toEqual({ state: 'governed', reason: null })
    await beat('ended', { load_state: 'stale_cache', ended: true })
    expect(await read(agent_id)).toMatchObject({
      engine: { state: 'stopped' },
      governance: { state: 'idle', reason: 'stopped' },
    })
    await platform.call('DELETE', `/api/v1/agents/${agent_id}`)
    expect(await read(agent_id)).toMatchObject({
      stopped: true,
      governance: { state: 'inactive', reason: 'deactivated' },
    })
  })

  it('is ungoverned without an enforced policy of the platform, whatever the engine reports', async () => {
    const agent_id = await register('bare')
    await beat('bare')
    const { body } = await platform.call<AssignmentList>('GET', `/api/v1/assignments?agent_id=${agent_id}`)
    for (const { id } of body.assignments) await platform.call('DELETE', `/api/v1/assignments/${id}`)
    expect(await read(agent_id)).toMatchObject({
      engine: { state: 'enforcing' },
      governance: { state: 'ungoverned', reason: 'no_policy' },
    })
  })

  it('says whether a stop covers the agent', async () => {
    const agent_id = await register('halted')
    const stop = await platform.call<Stop>('POST', '/api/v1/stops', { body: { agent_id, reason: 'test' } })
    expect(stop.status).toBe(201)
    expect((await read(agent_id)).stopped).toBe(true)
    await platform.call('POST', `/api/v1/stops/${stop.body.id}/resume`, { body: {} })
    expect((await read(agent_id)).stopped).toBe(false)
  })

  it('counts open incidents and names the time of the last step', async () => {
    const agent_id = await register('busy')
    await log('busy-task', 1, 'busy', { step_type: 'START_NODE' })
    now += minute
    const violating = { step_type: 'step.exec', step_name: 'shell', input: { command: 'rm -rf /' } }
    expect((await log('busy-task', 2, 'busy', violating)).status).toBeLessThan(300)
    const { open_incidents = 0, last_step_at } = await read(agent_id)
    const { body } = await platform.call<{ total: number }>('GET', `/api/v1/incidents?agent_id=${agent_id}`)
    expect(body.total).toBeGreaterThan(0)
    expect([open_incidents, last_step_at]).toEqual([body.total, new Date(now).toISOString()])
  })
})

const listed = async (query: string) => {
  const { body } = await platform.call<AgentList>('GET', `/api/v1/agents?${query}`)
  expect(body.total).toBe(body.agents.length)
  return body.agents.map(({ agent_key }) => agent_key)
}

describe('the filters `stopped` and `stop_id`', () => {
  it('select the agents that a stop stops now', async () => {
    const agent_id = await register('stop-filter')
    const stop = async (of: string) =>
      (await platform.call<Stop>('POST', '/api/v1/stops', { body: { agent_id: of, reason: 'r' } })).body.id
    const id = await stop(agent_id)
    const other = await stop(await register('stopped-too'))
    expect(await listed(`stop_id=${id}`)).toEqual(['stop-filter'])
    expect(await listed('stopped=true')).toEqual(expect.arrayContaining(['stop-filter', 'stopped-too']))
    expect(await listed('stopped=false&limit=200')).not.toContain('stop-filter')
    expect(await listed('stop_id=stop_unknown')).toEqual([])
    for (const one of [id, other]) await platform.call('POST', `/api/v1/stops/${one}/resume`, { body: {} })
    expect([await listed(`stop_id=${id}`), await listed('stopped=true')]).toEqual([[], []])
  })
})

describe('a list without the state now', () => {
  it('has the same agents and totals', async () => {
    await register('stateless')
    const list = async (query: string) =>
      (await platform.call<AgentList>('GET', `/api/v1/agents?limit=200&${query}`)).body
    const all = await list('state_now=true')
    const agents = all.agents.map(({ engine, governance, stopped, open_incidents, last_step_at, ...agent }) => agent)
    expect(await list('state_now=false')).toEqual({ ...all, agents })
    expect(all.agents.every(({ governance }) => governance !== undefined)).toBe(true)
  })
})

describe('the filter `governed`', () => {
  it('selects active agents by the state that the list shows', async () => {
    await register('governed-one')
    await beat('governed-one')
    const { body } = await platform.call<AgentList>('GET', '/api/v1/agents?active=true&limit=200')
    const keysOf = (isGoverned: boolean) =>
      body.agents
        .filter(({ governance }) => (governance?.state === 'governed') === isGoverned)
        .map(({ agent_key }) => agent_key)
    expect(await listed('governed=true')).toEqual(keysOf(true))
    expect(await listed('governed=false')).toEqual(keysOf(false))
    expect(keysOf(true)).toContain('governed-one')
    expect(keysOf(false)).toContain('bare')
    expect(await listed('governed=false&active=false')).toEqual([])
  })

  it('rejects another word', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/agents?governed=maybe')
    expect([status, body.errors[0]?.path]).toEqual([422, 'governed'])
  })
})

describe('the tools of an agent', () => {
  const tools = (agent_id: string) => platform.call<AgentTools>('GET', `/api/v1/agents/${agent_id}/tools`)

  it('are those that it declares and those that its last steps used', async () => {
    const agent_id = await register('tooled', { declared_tools: ['refund', { name: 'search', version: '1' }] })
    await log('tooled-task', 1, 'tooled', { step_type: 'START_NODE' })
    const times: string[] = []
    for (const [index, step_name] of ['refund', 'shell', 'refund'].entries()) {
      now += minute
      times.push(new Date(now).toISOString())
      await log('tooled-task', index + 2, 'tooled', { step_type: 'step.exec', step_name })
    }
    await log('tooled-task', 5, 'tooled', { step_type: 'step.model', step_name: 'a model' })
    expect(await tools(agent_id)).toMatchObject({
      status: 200,
      body: {
        tools: [
          { name: 'refund', declared: true, uses: 2, last_used: times[2] },
          { name: 'shell', declared: false, uses: 1, last_used: times[1] },
          { name: 'search', declared: true, uses: 0, last_used: null },
        ],
        has_declared: true,
        of_last: 5,
      },
    })
  })

  it('are empty for an agent without steps that never declared any', async () => {
    const { body } = await tools(await register('toolless'))
    expect(body).toEqual({ tools: [], has_declared: false, of_last: 0 })
  })

  it('of an unknown agent are not found', async () => expect((await tools('ag_0')).status).toBe(404))
})
