// POST /api/v1/traces: steps of a local engine, every accepted spelling, and what becomes of a request that is sent again.
import { readFileSync } from 'node:fs'
import type {
  Incident,
  IncidentList,
  IncidentOccurrenceList,
  LogDetail,
  LogList,
  TraceAnswer,
  Verification,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type CallOptions, discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
let agent_id: string
let now = Date.parse('2026-01-05T10:00:00Z')
beforeAll(async () => {
  platform = await startPlatform({ clock: () => now })
  const body = { agent_key: 'a', owner_id: 'o', purpose: 'p' }
  agent_id = (await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
})
afterAll(() => discard(platform))

let tasks = 0
const newTask = () => `t${tasks++}`
const step = { step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
const send = async (body: unknown, more: CallOptions = {}, query = '') => {
  const answer = await platform.call<TraceAnswer>('POST', `/api/v1/traces${query}`, { as: 'key', body, ...more })
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  return answer.body
}
const post = (lists: object, more?: CallOptions) => send({ agent_key: 'a', ...lists }, more)
const entriesOf = async (task_id: string) => {
  const { logs } = (await platform.call<LogList>('GET', `/api/v1/logs?task_id=${task_id}&limit=200`)).body
  return logs.toSorted((a, b) => a.seq - b.seq)
}
const detailOf = async (log_id: string) => (await platform.call<LogDetail>('GET', `/api/v1/logs/${log_id}`)).body

interface Row {
  readonly name: string
  readonly change: Readonly<Record<string, unknown>>
}
const cases = parse(readFileSync(new URL('../../cases/http/trace-steps.yaml', import.meta.url), 'utf8')) as {
  readonly taken: readonly (Row & { holds: object; without?: readonly string[] })[]
  readonly rejected: readonly (Row & { path: string; says: string })[]
}
const named = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll('{agent_id}', agent_id)) as T
const changed = (task_id: string, { change }: Row) =>
  Object.fromEntries(Object.entries({ ...step, task_id, ...named(change) }).filter(([, value]) => value !== 'absent'))

describe('a step of a trace', () => {
  it.each(cases.taken)('is logged, and known again: $name', async ({ holds, without = [], ...row }) => {
    const sent = { steps: [changed(newTask(), row)] }
    const { results } = await post(sent)
    expect(results).toMatchObject([{ status: 201, replayed: false }])
    const detail = await detailOf(results[0]?.entry?.log_id ?? '')
    expect(detail).toMatchObject(named(holds))
    for (const member of without) expect(Object(detail)[member] ?? null).toBeNull()
    now += 1000
    expect((await post(sent)).results).toEqual([{ ...results[0], status: 200, replayed: true }])
    expect(await entriesOf(detail.task_id)).toHaveLength(1)
  })

  it.each(cases.rejected)('is rejected alone: $name', async ({ path, says, ...row }) => {
    const task_id = newTask()
    const { results } = await post({ steps: [changed(task_id, row), { ...step, task_id }] })
    expect(results).toMatchObject([{ status: 422, problem: { code: 'INVALID', errors: [{ path }] } }, { status: 201 }])
    expect(results[0]?.problem?.errors[0]?.message).toContain(says)
  })

  it.each([null, 'x', 7, [], true])('is rejected alone when it is %j', async (odd) => {
    const { results } = await post({ steps: [odd, { ...step, task_id: newTask() }] })
    expect(results.map(({ status }) => status)).toEqual([422, 201])
  })

  it('takes its task by a number, and makes one of a single step', async () => {
    const { results } = await post({ steps: { ...step, task_id: 4711 } })
    expect(results).toMatchObject([{ status: 201, entry: { task_id: '4711' } }])
  })

  it('gets the next number and the time of arrival', async () => {
    const task_id = newTask()
    const bare = { task_id, step_type: 'step.model' }
    const { results } = await post({ steps: [bare, bare, { ...bare, step: 7 }, bare] })
    expect(results.map(({ entry }) => entry?.step)).toEqual([1, 2, 7, 8])
    expect(await entriesOf(task_id)).toMatchObject(Array(4).fill({ timestamp: new Date(now).toISOString() }))
  })
})

describe('a request that is sent again', () => {
  const again = async (steps: readonly object[], headers = {}) => {
    const first = await post({ steps }, { headers })
    now += 60_000
    return { first: first.results, second: (await post({ steps }, { headers })).results }
  }
  const bare = { step_type: 'step.model' }
  const timed = { ...bare, timestamp: '2026-01-05T09:00:00Z' }

  it('adds nothing when its steps have numbers or times, also equal ones', async () => {
    const task_id = newTask()
    const steps = [timed, timed, { ...timed, input: {} }, { ...bare, step: 9 }].map((one) => ({ ...one, task_id }))
    const { first, second } = await again(steps)
    expect(first.map(({ status, entry }) => [status, entry?.step])).toEqual([1, 2, 3, 9].map((n) => [201, n]))
    expect(second).toEqual(first.map((result) => ({ ...result, status: 200, replayed: true })))
  })

  it('adds steps that have neither, unless it has an Idempotency-Key', async () => {
    const task_id = newTask()
    const steps = [{ ...bare, task_id }]
    const { second } = await again(steps)
    expect(second).toMatchObject([{ status: 201, entry: { step: 2 } }])
    const keyed = await again(steps, { 'idempotency-key': 'once' })
    expect(keyed.second).toEqual(keyed.first)
    // Answers are kept for a day; the steps are known longer.
    now += 86_400_000
    const late = await again(steps, { 'idempotency-key': 'once' })
    expect(late.first).toEqual(keyed.first.map((result) => ({ ...result, status: 200, replayed: true })))
    expect(await entriesOf(task_id)).toHaveLength(3)
  })

  it('adds a step whose number is known with another content', async () => {
    const task_id = newTask()
    await post({ steps: [{ ...bare, step: 1, task_id }] })
    const { results } = await post({ steps: [{ ...bare, step: 1, task_id, input: {} }] })
    expect(results).toMatchObject([{ status: 201, entry: { step: 1, seq: 2 } }])
  })
})

describe('a trace', () => {
  it('of a whole task is logged in order, and verifies', async () => {
    const task_id = newTask()
    const types = ['task.start', ...Array<string>(8).fill('step.model'), 'task.end']
    const steps = types.map((step_type, index) => ({ ...step, task_id, step: index + 1, step_type }))
    const { results, ...others } = await post({ steps })
    expect(results.map(({ entry }) => entry?.seq)).toEqual(steps.map(({ step }) => step))
    expect(others).toEqual({ incidents: [], unrecorded: [], gaps: [] })
    const { body } = await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)
    expect(body).toMatchObject({ valid: true, sequence: { ok: true, issues: [] } })
  })

  it('is a list of steps or JSON lines, with the agent in the query', async () => {
    const [list, lines] = [newTask(), newTask()]
    expect((await send([{ ...step, task_id: list }], {}, '?agent_key=a')).results).toMatchObject([{ status: 201 }])
    const raw = [{ ...step, task_id: lines }, 'not a step'].map((line) => JSON.stringify(line)).join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    const { results } = await send(undefined, { raw: `${raw}\n\n{"task_id"\n`, headers }, '?agent_key=a')
    expect(results.map(({ status }) => status)).toEqual([201, 422, 400])
    expect(results[2]?.problem?.detail).toContain('line 4')
  })

  it('has steps as deep as those of POST /api/v1/logs, and texts that were cut inside a character', async () => {
    const deep = `{"a":`.repeat(62)
    const text = JSON.stringify({ agent_key: 'a', steps: [{ ...step, task_id: newTask(), input: 0 }] })
    const raw = text.replace('"input":0', `"input":${deep}"\\ud83d"${'}'.repeat(62)}`)
    const { results } = await send(undefined, { raw })
    expect(results).toMatchObject([{ status: 201 }])
    const { input } = await detailOf(results[0]?.entry?.log_id ?? '')
    expect(JSON.stringify(input)).toContain('\ufffd')
  })
})

describe('an incident of a trace', () => {
  const incidentsOf = async (task_id: string) =>
    (await platform.call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)).body.incidents
  const occurrencesOf = async ({ id }: Incident) =>
    (await platform.call<IncidentOccurrenceList>('GET', `/api/v1/incidents/${id}/occurrences`)).body.occurrences
  const violated = async () => {
    const task_id = newTask()
    await post({ steps: [{ ...step, task_id }] })
    return (await incidentsOf(task_id))[0] as Incident
  }
  const lineOf = (task_id: string, { policy_id, policy_name, manifest_id }: Incident, evaluation_id: string) => ({
    kind: 'incident',
    recorded_at: '2026-01-05T09:00:00.000Z',
    agent_id: 'what the agent calls itself',
    task_id,
    step: 1,
    evaluation_id,
    violation: {
      policy_id,
      name: policy_name,
      severity: 'low',
      manifest_id,
      violation_details: { code: 'C', reason: 'r' },
    },
    reason: 'executed_although_blocked',
  })

  it('of a step in it is one occurrence, with the reason of the engine', async () => {
    const known = await violated()
    const task_id = newTask()
    const meta = { 'svc.eval': { evaluation_id: 'e1', action: 'block' } }
    const sent = { steps: [{ ...step, task_id, meta }], incidents: [lineOf(task_id, known, 'e1')] }
    const { results, incidents } = await post(sent)
    expect(results).toMatchObject([{ status: 201, entry: { violations: [{ policy_id: known.policy_id }] } }])
    expect(incidents).toMatchObject([{ status: 200, outcome: 'known' }])
    expect((await post(sent)).incidents).toEqual(incidents)
    const [incident, ...others] = await incidentsOf(task_id)
    expect([incident?.occurrences, others]).toEqual([1, []])
    expect(await occurrencesOf(incident as Incident)).toMatchObject([
      {
        evaluation_id: 'e1',
        is_evaluated: true,
        is_reported: true,
        reported_reason: 'executed_although_blocked',
        log_id: results[0]?.entry?.log_id,
      },
    ])
  })

  it('without its step is of the agent of the request, and keeps its reason when the step comes', async () => {
    const known = await violated()
    const task_id = newTask()
    const line = lineOf(task_id, known, 'e2')
    expect((await post({ incidents: line })).incidents).toMatchObject([{ status: 201, outcome: 'new' }])
    await post({ steps: [{ ...step, task_id }] })
    const [incident] = await incidentsOf(task_id)
    expect(incident).toMatchObject({ agent_id, occurrences: 1 })
    expect(await occurrencesOf(incident as Incident)).toMatchObject([
      { is_evaluated: true, reported_reason: 'executed_although_blocked' },
    ])
  })

  it('can be one of a thousand, with wrong ones among them', async () => {
    const known = await violated()
    const task_id = newTask()
    const incidents = Array.from({ length: 1000 }, (_, index) =>
      index % 250 === 7 ? { policy_id: 'x' } : { ...lineOf(task_id, known, `e${index}`), step: index + 1 },
    )
    const { incidents: results } = await post({ incidents })
    expect(results.map(({ status }) => status)).toEqual(
      incidents.map((_, index) => (index % 250 === 7 ? 422 : index === 0 ? 201 : 200)),
    )
    expect((await incidentsOf(task_id))[0]?.occurrences).toBe(996)
  })
})
