// Changes of agents by members: set fields, deactivate and reactivate, confirm a lower risk level.
import type { Agent, AgentList, EventList, Problem, RegisteredAgent, TaskList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
let platform: TestPlatform
/** A second process on the same database, with its own caches. */
let other: TestPlatform
beforeAll(async () => {
  const database_url = postgres?.freshDatabase() ?? null
  platform = await startPlatform({ database_url })
  other = database_url === null ? platform : await startPlatform({ database_url, data_dir: platform.data_dir })
})
afterAll(async () => {
  if (other !== platform) await other.close()
  await discard(platform)
})

const register = async (body: Record<string, unknown>) => {
  const answer = await platform.call<RegisteredAgent & Problem>('POST', '/api/v1/agents', { as: 'key', body })
  return { ...answer.body, status: answer.status, at: `/api/v1/agents/${answer.body.agent_id}` }
}
const read = async (at: string) => (await platform.call<Agent>('GET', at)).body
const change = (method: string, at: string, body?: unknown) =>
  platform.call<Agent & Problem>(method, at, body === undefined ? {} : { body })
const kindsOf = async (id: string) => {
  const { body } = await platform.call<EventList>('GET', `/api/v1/events?subject=${id}`)
  return body.events.map(({ kind }) => kind)
}
const factsOf = async (id: string) => {
  const { body } = await platform.call<EventList>('GET', `/api/v1/events?subject=${id}`)
  return body.events.map(({ data }) => (data as { facts?: object }).facts)
}
const log = (through: TestPlatform, agent_key: string | undefined, task_id: string, step = 1) =>
  through.call<Problem>('POST', '/api/v1/logs', {
    as: platform.api_key,
    body: { agent_key, task_id, step, step_type: 'step.model', timestamp: '2026-01-05T09:00:00Z' },
  })

describe('fields that a member sets', () => {
  // Sent first by the agent, set by the member, sent again by the agent, and the values in effect afterwards.
  const rows = [
    {
      name: 'override a registration without the field',
      sent: { name: 'A' },
      set: { name: 'B' },
      again: {},
      holds: { name: 'B' },
    },
    {
      name: 'override a registration with the old value',
      sent: { name: 'A' },
      set: { name: 'B' },
      again: { name: 'A' },
      holds: { name: 'B' },
    },
    { name: 'another sent', sent: { name: 'A' }, set: { name: 'B' }, again: { name: 'C' }, holds: { name: 'B' } },
    {
      name: "others stay the agent's",
      sent: {},
      set: { owner_id: 'ops' },
      again: { purpose: 'p' },
      holds: { owner_id: 'ops', purpose: 'p' },
    },
    {
      name: 'end with null',
      sent: { name: 'A' },
      first: { name: 'B' },
      set: { name: null },
      again: {},
      holds: { name: 'A' },
    },
    {
      name: 'include tools and environment',
      sent: {},
      set: { declared_tools: ['t'], environment: 'production' },
      again: { environment: 'test' },
      holds: { declared_tools: ['t'], environment: 'production' },
    },
    {
      name: 'put a lower risk level into effect at once',
      sent: { risk_classification: 'high' },
      set: { risk_classification: 'limited' },
      again: { risk_classification: 'high' },
      holds: { risk_classification: 'limited', effective_risk_classification: 'limited' },
    },
    {
      name: 'end with a risk level that the agent raises',
      sent: { risk_classification: 'limited' },
      set: { risk_classification: 'minimal' },
      again: { risk_classification: 'high' },
      holds: { risk_classification: 'high', effective_risk_classification: 'high' },
    },
  ]
  it.each(rows)('$name', async ({ name, sent, first, set, again, holds }) => {
    const agent_key = `set ${name}`
    const { at, agent_id } = await register({ agent_key, ...sent })
    if (first !== undefined) expect((await change('PATCH', at, first)).status).toBe(200)
    expect((await change('PATCH', at, set)).status).toBe(200)
    await register({ agent_key, ...again })
    expect(await read(at)).toMatchObject(holds)
    expect(await kindsOf(agent_id)).toContain('agent.updated')
  })

  it('are evaluated like a registration', async () => {
    const { at, agent_id } = await register({ agent_key: 'evaluated', owner_id: 'o', purpose: 'p' })
    await change('PATCH', at, { risk_classification: 'unacceptable' })
    const { body } = await platform.call<{ incidents: object[] }>('GET', `/api/v1/incidents?agent_id=${agent_id}`)
    expect(body.incidents).toMatchObject([{ scope: 'agent_registration', task_id: null }])
  })

  it.each([
    ['nothing', {}, 422],
    ['an unknown field', { agent_key: 'x' }, 422],
    ['an unknown risk level', { risk_classification: 'low' }, 422],
    ['the character NUL', { name: 'a\0' }, 422],
  ])('are rejected: %s', async (_, body, status) => {
    const { at } = await register({ agent_key: 'rejected' })
    expect((await change('PATCH', at, body)).status).toBe(status)
  })
})

describe('a lowered risk level', () => {
  it('waits for a person, which the answer and the list of agents say until it is confirmed or raised again', async () => {
    const agent_key = 'lowered'
    const first = await register({ agent_key, risk_classification: 'high' })
    const waits = async () => {
      const { agents } = (await platform.call<AgentList>('GET', `/api/v1/agents?q=${agent_key}`)).body
      return agents.map(({ waits_for_confirmation }) => waits_for_confirmation)
    }
    expect([first.warnings, await waits()]).toEqual([undefined, [false]])
    const { warnings, at, agent_id } = await register({ agent_key, risk_classification: 'limited' })
    const until = `until a member confirms it with POST /api/v1/agents/${agent_id}/confirm`
    expect(warnings).toEqual([`the risk level \`limited\` waits ${until}: policies use \`high\``])
    expect([(await register({ agent_key })).warnings, await waits()]).toEqual([warnings, [true]])
    await change('POST', `${at}/confirm`, {})
    expect([(await register({ agent_key })).warnings, await waits()]).toEqual([undefined, [false]])
  })
})

describe('a deactivated agent', () => {
  it('is rejected in every process until it is reactivated', async () => {
    const agent_key = 'stopped'
    const { at, agent_id } = await register({ agent_key })
    expect([(await log(platform, agent_key, 'before')).status, (await log(other, agent_key, 'there')).status]).toEqual([
      201, 201,
    ])
    expect(await change('DELETE', at)).toMatchObject({ status: 200, body: { active: false } })
    for (const through of [platform, other]) {
      const { status, body } = await log(through, agent_key, 'after')
      expect([status, body.code]).toEqual([403, 'AGENT_DEACTIVATED'])
    }
    const batch = await platform.call<{ results: { status: number }[] }>('POST', '/api/v1/logs/batch', {
      as: 'key',
      body: {
        entries: [{ agent_key, task_id: 'b', step: 1, step_type: 'step.model', timestamp: '2026-01-05T09:00:00Z' }],
      },
    })
    expect(batch.body.results.map(({ status }) => status)).toEqual([403])
    const again = await register({ agent_key, name: 'new' })
    expect([again.status, again.code]).toEqual([403, 'AGENT_DEACTIVATED'])
    expect(await read(at)).toMatchObject({ active: false, name: agent_key })
    expect(await change('POST', `${at}/reactivate`)).toMatchObject({ status: 200, body: { active: true } })
    for (const [step, through] of [platform, other].entries())
      expect((await log(through, agent_key, 'after', step + 1)).status).toBe(201)
    expect((await kindsOf(agent_id)).slice(0, 2)).toEqual(['agent.reactivated', 'agent.deactivated'])
  })

  it('can be read and listed', async () => {
    const { at, agent_id } = await register({ agent_key: 'listed' })
    await change('DELETE', at)
    const ids = async (active: boolean) =>
      (await platform.call<AgentList>('GET', `/api/v1/agents?limit=200&active=${active}`)).body.agents.map(
        (one) => one.agent_id,
      )
    expect([(await ids(false)).includes(agent_id), (await ids(true)).includes(agent_id)]).toEqual([true, false])
    expect((await platform.call<TaskList>('GET', '/api/v1/logs/tasks?q=before')).body.total).toBe(1)
  })

  it('is recorded with the facts that rules see after each change', async () => {
    const registered = { agent_key: 'facts', risk_classification: 'high', owner_id: 'mia', region: 'eu' }
    const { at, agent_id } = await register(registered)
    await change('PATCH', at, { owner_id: 'ops' })
    await register({ ...registered, risk_classification: 'minimal', declared_tools: ['search'] })
    await change('POST', `${at}/confirm`, {})
    const defaults = { agent_id, agent_key: 'facts', name: 'facts', purpose: null, environment: 'development' }
    const sent = { ...defaults, owner_id: 'ops', risk_classification: 'high', attributes: { region: 'eu' } }
    const declared_tools = ['search']
    expect(await factsOf(agent_id)).toEqual([
      { ...sent, declared_tools, risk_classification: 'minimal' },
      { ...sent, declared_tools },
      { ...sent, declared_tools: null },
      { ...sent, declared_tools: null, owner_id: 'mia' },
    ])
  })

  it('is listed without facts that are long; the log holds them', async () => {
    const long = 'x'.repeat(6_000)
    const { agent_id } = await register({ agent_key: 'long', purpose: long })
    expect(await factsOf(agent_id)).toEqual([null])
    const { body } = await platform.call<EventList>('GET', `/api/v1/events?subject=${agent_id}`)
    const at = body.events[0]?.log_index
    const leaf = postgres?.psql(
      platform.env.SVC_DATABASE_URL ?? '',
      `select body from log_records where log_index = ${at}`,
    )
    if (leaf !== undefined) expect(leaf).toContain(`"purpose":"${long}"`)
  })

  it('is changed once, with one event', async () => {
    const { at, agent_id } = await register({ agent_key: 'twice' })
    await change('POST', `${at}/reactivate`)
    await change('DELETE', at)
    await change('DELETE', at)
    expect(await kindsOf(agent_id)).toEqual(['agent.deactivated', 'agent.registered'])
  })
})

describe('a lower risk level', () => {
  it('is shown at once, and in effect after it is confirmed', async () => {
    const agent_key = 'lower'
    await register({ agent_key, risk_classification: 'high' })
    const { at, agent_id } = await register({ agent_key, risk_classification: 'limited' })
    expect(await read(at)).toMatchObject({ risk_classification: 'limited', effective_risk_classification: 'high' })
    const effective = async () =>
      (await platform.call<{ agent: Agent }>('GET', `/api/v1/policies/effective?agent_key=${agent_key}`, { as: 'key' }))
        .body.agent
    expect((await effective()).risk_classification).toBe('high')
    const wrong = await change('POST', `${at}/confirm`, { risk_classification: 'minimal' })
    expect([wrong.status, wrong.body.code]).toEqual([409, 'CONFLICT'])
    const done = await change('POST', `${at}/confirm`, { risk_classification: 'limited' })
    expect(done).toMatchObject({ status: 200, body: { effective_risk_classification: 'limited' } })
    expect((await effective()).risk_classification).toBe('limited')
    await register({ agent_key, risk_classification: 'limited' })
    expect(await read(at)).toMatchObject({ risk_classification: 'limited', effective_risk_classification: 'limited' })
    expect((await kindsOf(agent_id))[0]).toBe('agent.risk_confirmed')
    const over = await change('POST', `${at}/confirm`, {})
    expect([over.status, over.body.code]).toEqual([409, 'INVALID_TRANSITION'])
  })

  it('is a filter of the list', async () => {
    const agent_key = 'found'
    await register({ agent_key, risk_classification: 'high' })
    const { agent_id } = await register({ agent_key, risk_classification: 'minimal' })
    const { body } = await platform.call<AgentList>('GET', '/api/v1/agents?risk_classification=minimal&q=found')
    expect(body.agents.map((one) => one.agent_id)).toEqual([agent_id])
  })
})
