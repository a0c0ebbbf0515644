// Stops: which agents they block, and how they are resumed.
import { readFileSync } from 'node:fs'
import type {
  Agent,
  Assignment,
  AssignmentList,
  AuditEvent,
  EffectivePolicies,
  Evaluation,
  IncidentList,
  LoggedStep,
  Problem,
  RegisteredAgent,
  Stop,
  StopList,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { messages } from '../../../engine/policy/messages.js'
import { expectEqualVerdicts } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface Action {
  readonly stop?: { agent?: string; agent_key?: string; manifest?: true; workspace?: true; with_key?: true }
  readonly resume?: { agents?: string[]; percent?: number }
  /** The stop to resume; default the last. */
  readonly of?: number
  readonly register?: string
  readonly assign?: string
  readonly unassign?: string
  readonly deactivate?: string
  readonly reactivate?: string
  readonly change?: { agent: string; body: object }
  readonly state?: Stop['state']
  readonly agents?: number
  readonly blocked?: string[]
}

interface Scenario {
  readonly name: string
  readonly agents: string[]
  readonly do: Action[]
}

const scenarios = parse(readFileSync(new URL('../../cases/stops.yaml', import.meta.url), 'utf8')) as Scenario[]
const reason = 'refunds go to wrong accounts'

async function world(platform: TestPlatform) {
  const ids = new Map<string, string>()
  const stops: string[] = []
  let manifest_id = ''
  const register = async (agent_key: string) => {
    const body = { agent_key, owner_id: 'o', purpose: 'p' }
    const answer = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })
    ids.set(agent_key, answer.body.agent_id)
  }
  const idOf = (key = '') => ids.get(key) ?? ''
  const evaluate = async (key: string, intended: object) => {
    const body = { intended, context: { agent_id: key } }
    return (await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })).body
  }
  /** The agents whose next step the policy of a stop blocks, hosted and by the policies for local engines alike. */
  const blocked = async () => {
    const found: string[] = []
    for (const key of [...ids.keys()].sort()) {
      const { violations } = await evaluate(key, { step_type: 'step.model', verb: 'POST' })
      const path = `/api/v1/policies/effective?agent_key=${key}`
      const { policies } = (await platform.call<EffectivePolicies>('GET', path, { as: 'key' })).body
      const isStopped = violations.some(({ rule_type }) => rule_type === 'stopped')
      expect([key, policies.some(({ rule_type }) => rule_type === 'stopped')]).toEqual([key, isStopped])
      if (isStopped) found.push(key)
    }
    return found
  }
  const assignment = { repo_id: 1, manifest_path: 'operational/starter.yaml' }
  const act = async ({ stop, resume, of = stops.length - 1, ...more }: Action) => {
    if (more.register !== undefined) await register(more.register)
    if (more.assign !== undefined) {
      const body = { agent_id: idOf(more.assign), ...assignment }
      const made = await platform.call<Assignment>('POST', '/api/v1/assignments', { body })
      expect(made.status).toBe(201)
      manifest_id = made.body.manifest_id
    }
    if (more.unassign !== undefined) {
      const path = `/api/v1/assignments?agent_id=${idOf(more.unassign)}`
      const { assignments } = (await platform.call<AssignmentList>('GET', path)).body
      const own = assignments.find((one) => one.manifest_id === manifest_id)
      expect((await platform.call('DELETE', `/api/v1/assignments/${own?.id}`)).status).toBeLessThan(300)
    }
    if (more.deactivate !== undefined) await platform.call('DELETE', `/api/v1/agents/${idOf(more.deactivate)}`)
    if (more.reactivate !== undefined) await platform.call('POST', `/api/v1/agents/${idOf(more.reactivate)}/reactivate`)
    if (more.change !== undefined)
      await platform.call('PATCH', `/api/v1/agents/${idOf(more.change.agent)}`, { body: more.change.body })
    if (stop !== undefined) {
      const { agent, manifest, ...target } = stop
      const named = { ...target, ...(agent && { agent_id: idOf(agent) }), ...(manifest && { manifest_id }) }
      const made = await platform.call<Stop>('POST', '/api/v1/stops', { body: { ...named, reason } })
      expect([made.status, made.body.state]).toEqual([201, 'stopped'])
      stops.push(made.body.id)
      return made.body
    }
    if (resume === undefined) return null
    const body = { ...resume, ...(resume.agents && { agent_ids: resume.agents.map(idOf) }), agents: undefined }
    const answer = await platform.call<Stop>('POST', `/api/v1/stops/${stops[of]}/resume`, { body })
    expect(answer.status).toBe(200)
    return answer.body
  }
  /** The agents for which the list of stops has one that stops them now, and the deactivated ones, whose stop it does not show. */
  const listed = async () => {
    const keys: string[] = []
    for (const [key, id] of [...ids].sort()) {
      const { body } = await platform.call<StopList>('GET', `/api/v1/stops?agent_id=${id}`)
      const { active } = (await platform.call<Agent>('GET', `/api/v1/agents/${id}`)).body
      if (body.total > 0 || !active) keys.push(key)
    }
    return keys
  }
  return { register, evaluate, blocked, listed, act, idOf }
}

describe.each(scenarios)('a stop of $name', ({ agents, do: actions }) => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform()
  })
  afterAll(() => discard(platform))

  it('blocks the agents that it concerns until they are resumed', async () => {
    const { register, act, blocked, listed } = await world(platform)
    for (const key of agents) await register(key)
    for (const action of actions) {
      const stop = await act(action)
      if (action.agents !== undefined) expect([action, stop?.agents]).toEqual([action, action.agents])
      if (action.state !== undefined) expect(stop?.state).toBe(action.state)
      if (action.blocked === undefined) continue
      expect([action, await blocked()]).toEqual([action, action.blocked])
      expect([action, await listed()]).toEqual([action, action.blocked])
    }
  })
})

describe('a stop', () => {
  let platform: TestPlatform
  let here: Awaited<ReturnType<typeof world>>
  beforeAll(async () => {
    platform = await startPlatform()
    here = await world(platform)
    for (const key of ['a', 'b', 'c']) await here.register(key)
  })
  afterAll(() => discard(platform))
  const post = (path: string, body: unknown) => platform.call<Stop & Problem>('POST', path, { body })
  const incidents = async () =>
    (await platform.call<IncidentList>('GET', '/api/v1/incidents')).body.incidents.filter(
      ({ rule_type }) => rule_type === 'stopped',
    )

  it.each([
    { what: 'no target', body: { reason }, status: 422, says: /no target is named: give one of/ },
    { what: 'two targets', body: { reason, workspace: true, agent_key: 'a' }, status: 422, says: /2 targets/ },
    { what: 'a target of false', body: { reason, workspace: false }, status: 422, says: /no target/ },
    { what: 'a target of null', body: { reason, agent_id: null }, status: 422, says: /no target/ },
    { what: 'a target that is a text', body: { reason, workspace: 'true' }, status: 422, says: /workspace/ },
    { what: 'a target that is a list', body: { reason, agent_key: ['a'] }, status: 422, says: /agent_key/ },
    { what: 'no reason', body: { workspace: true }, status: 422, says: /reason/ },
    { what: 'an empty reason', body: { workspace: true, reason: '' }, status: 422, says: /reason/ },
    { what: 'a reason of spaces', body: { workspace: true, reason: '  ' }, status: 422, says: /reason/ },
    { what: 'a long reason', body: { workspace: true, reason: 'x'.repeat(1001) }, status: 422, says: /reason/ },
    { what: 'an unknown agent', body: { reason, agent_id: 'ag_0' }, status: 404, says: /GET \/api\/v1\/agents/ },
    { what: 'an unknown key', body: { reason, agent_key: 'z' }, status: 404, says: /GET \/api\/v1\/agents/ },
    { what: 'an unknown manifest', body: { reason, manifest_id: 'man_0' }, status: 404, says: /assignments/ },
  ])('is rejected for $what', async ({ body, status, says }) => {
    const answer = await post('/api/v1/stops', body)
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([status, expect.stringMatching(says)])
    expect(await here.blocked()).toEqual([])
  })

  it('lets a task end, excuses steps that obeyed, and makes one incident of a step that ran all the same', async () => {
    const { id, policy_id } = (await post('/api/v1/stops', { agent_key: 'a', reason })).body
    for (const step_type of ['task.end', 'task.error'])
      expect([step_type, (await here.evaluate('a', { step_type })).blocked]).toEqual([step_type, false])
    for (const step_type of ['task.start', 'step.gate', 'task.idle'])
      expect([step_type, (await here.evaluate('a', { step_type })).blocked]).toEqual([step_type, true])
    const retried = await here.evaluate('a', { step_type: 'step.exec', output: { status: 'blocked' } })
    expect(retried.reason).toBe(`\`Stop ${id}\` blocks: the agent is stopped by \`operator:local\`: \`${reason}\``)
    expect(retried.violations[0]?.violation_details?.remedy).not.toMatch(/svc |POST|\/api/)
    expect([retried.message, retried.violations[0]?.message]).toEqual([messages.STOPPED, messages.STOPPED])
    let step = 0
    const log = async (more: object) => {
      const timestamp = '2026-01-05T09:00:00Z'
      const body = { agent_key: 'a', task_id: 't', step: ++step, timestamp, ...more }
      return (await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })).body
    }
    const stopped = ({ violations }: LoggedStep) => violations.filter((one) => one.policy_id === policy_id)
    expect(stopped(await log({ step_type: 'step.exec', output: { status: 'blocked' } }))).toEqual([])
    for (const step_type of ['task.start', 'START_NODE', 'task.error', 'ERROR_NODE', 'END_NODE'])
      expect([step_type, stopped(await log({ step_type }))]).toEqual([step_type, []])
    expect(await incidents()).toEqual([])
    for (const more of [
      { step_type: 'step.exec', output: { status: 'ok' } },
      { step_type: 'TOOL_CALL' },
      { step_type: 'task.idle' },
    ])
      expect([more, stopped(await log(more))]).toMatchObject([more, [{ severity: 'critical' }]])
    expect(await incidents()).toMatchObject([{ policy_id, severity: 'critical', state: 'open', occurrences: 3 }])
    await post(`/api/v1/stops/${id}/resume`, { note: 'fixed' })
    expect(stopped(await log({ step_type: 'step.exec', output: { status: 'ok' } }))).toEqual([])
    await expectEqualVerdicts(platform)
  })

  it('counts the attempts of its agents that it blocked, and no end of a task', async () => {
    const { id } = (await post('/api/v1/stops', { agent_key: 'c', reason })).body
    const timestamp = '2026-01-05T09:00:00Z'
    const log = (key: string, step: number, more: object) => {
      const body = { agent_key: key, task_id: `attempts of ${key}`, step, timestamp, ...more }
      return platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
    }
    const blocked = { output: { reason: 'stopped', status: 'blocked' } }
    expect((await log('c', 1, { step_type: 'step.exec', step_name: 'shell', ...blocked })).status).toBe(201)
    const last = await log('c', 2, { step_type: 'step.message', verb: 'POST', ...blocked })
    await log('c', 3, { step_type: 'step.message', verb: 'GET', output: { status: 'unblocked' } })
    await log('c', 4, { step_type: 'step.exec', step_name: 'shell' })
    await log('c', 5, { step_type: 'task.end', ...blocked })
    await log('b', 1, { step_type: 'step.exec', ...blocked })
    const found = (await platform.call<Stop>('GET', `/api/v1/stops/${id}`)).body
    const received = last.body.received_at
    expect(found.blocked_attempts).toEqual([{ agent_id: here.idOf('c'), count: 2, last_at: received }])
    const decision = {
      evaluation_id: 'eval_1',
      decided_at: timestamp,
      outcome: 'block',
      intended: { step_type: 'step.exec' },
    }
    const violations = [{ policy_id: found.policy_id, name: `Stop ${id}`, code: 'STOPPED' }]
    const unrecorded = [{ ...decision, task_id: 'a released attempt', violations }]
    const told = await platform.call('POST', '/api/v1/traces', {
      as: 'key',
      body: { agent_key: 'c', steps: [], unrecorded },
    })
    expect(told.status).toBe(200)
    await post(`/api/v1/stops/${id}/resume`, {})
    await log('c', 6, { step_type: 'step.exec', ...blocked })
    const resumed = (await platform.call<Stop>('GET', `/api/v1/stops/${id}`)).body
    expect(resumed.blocked_attempts).toMatchObject([{ agent_id: here.idOf('c'), count: 3 }])
  })

  it('is resumed by one of two callers, by its table of states, and says who did what', async () => {
    const { id } = (await post('/api/v1/stops', { workspace: true, reason })).body
    const resume = `/api/v1/stops/${id}/resume`
    for (const body of [
      { agent_ids: ['ag_0'] },
      { percent: 0 },
      { percent: '50' },
      { agent_ids: [], percent: 5 },
      { percent: null },
      { agent_ids: null, note: 'n' },
    ])
      expect((await post(resume, body)).status).toBe(422)
    expect((await post(resume, { percent: 1, agent_ids: null })).body).toMatchObject({ state: 'resuming', agents: 2 })
    expect((await post(resume, { percent: 33 })).body.code).toBe('INVALID')
    const both = await Promise.all([post(resume, { note: 'one' }), post(resume, { note: 'two' })])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409])
    const lost = both.find(({ status }) => status === 409)?.body
    expect(lost).toMatchObject({
      code: 'INVALID_TRANSITION',
      detail: 'cannot resume a stop that is `resumed`: its state must be `stopped` or `resuming`',
    })
    const { body } = await platform.call<Stop>('GET', `/api/v1/stops/${id}`)
    const by = 'operator:local'
    expect(body).toMatchObject({ state: 'resumed', agents: 0, created_by: by, resumed_at: expect.any(String) })
    expect(body.stages).toMatchObject([
      { by, agents: 1, percent: 1, note: null },
      { by, agents: 2, percent: null, note: expect.stringMatching(/one|two/) },
    ])
    const { events } = (await platform.call<{ events: AuditEvent[] }>('GET', '/api/v1/events?limit=200')).body
    const own = events.filter(({ subject_id }) => subject_id === id)
    expect(own.map(({ kind, data }) => [kind, data.reason ?? data.to])).toEqual([
      ['stop.resumed', 'resumed'],
      ['stop.resumed', 'resuming'],
      ['stop.created', reason],
    ])
    const { stops, total } = (await platform.call<StopList>('GET', '/api/v1/stops?state=resumed&target=workspace')).body
    expect([stops.map((stop) => stop.id), total]).toEqual([[id], 1])
  })
})
