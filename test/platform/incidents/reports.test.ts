// Incidents that local engines report: every accepted shape, every order of arrival, and what is rejected.
import type {
  EventList,
  Incident,
  IncidentList,
  IncidentOccurrenceList,
  MadeApiKey,
  Policy,
  Problem,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface Result {
  readonly status: number
  readonly incident_id?: string
  readonly outcome?: string
  readonly problem?: Problem
}

let platform: TestPlatform
let policy: Policy
let agent_id: string
beforeAll(async () => {
  platform = await startPlatform()
  const body = { agent_key: 'a', owner_id: 'o', purpose: 'p' }
  agent_id = (await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
  const probe = await log('probe', 1)
  const violated = probe.body.violations[0]?.policy_id
  policy = (await platform.call<Policy>('GET', `/api/v1/policies/${violated}`)).body
})
afterAll(() => discard(platform))

interface Logged {
  readonly log_id: string
  readonly violations: readonly { readonly policy_id: number }[]
}
/** A step that violates the policy. */
const log = (task_id: string, step: number, meta: object = {}) =>
  platform.call<Logged>('POST', '/api/v1/logs', {
    as: 'key',
    body: { task_id, step, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z', agent_key: 'a', meta },
  })
const report = (body: unknown, as = 'key') => platform.call<Result & Problem>('POST', '/api/v1/incidents', { as, body })
const reportAll = async (body: readonly unknown[]) =>
  (await platform.call<{ results: Result[] }>('POST', '/api/v1/incidents', { as: 'key', body })).body.results
const incidentsOf = async (task_id: string) => {
  const query = `task_id=${task_id}&policy_id=${policy.id}`
  return (await platform.call<IncidentList>('GET', `/api/v1/incidents?${query}`)).body.incidents
}
const occurrencesOf = async ({ id }: Incident) =>
  (await platform.call<IncidentOccurrenceList>('GET', `/api/v1/incidents/${id}/occurrences`)).body.occurrences

let tasks = 0
const newTask = () => `r${tasks++}`
const flat = (task_id: string, step: number | null, evaluation_id: string | null, more: object = {}) => ({
  policy_id: policy.id,
  agent_key: 'a',
  task_id,
  step,
  evaluation_id,
  reason: 'reported',
  ...more,
})
/** The line that `svc serve` writes. */
const lineOf = (task_id: string, step: number, evaluation_id: string) => ({
  kind: 'incident',
  recorded_at: '2026-01-05T09:00:00.000Z',
  agent_id: 'the name that the agent uses locally',
  agent_key: 'a',
  task_id,
  step,
  evaluation_id,
  violation: {
    policy_id: policy.id,
    name: policy.name,
    severity: 'low',
    mode: 'enforce',
    waived: false,
    manifest_id: policy.manifest_id,
    violation_details: {
      code: 'C',
      reason: 'why',
      rule_type: policy.rule_type,
      params: {},
      evidence: [],
      remedy: null,
    },
  },
  reason: 'executed_although_blocked',
})

describe('a reported incident', () => {
  const shapes: [string, (task_id: string) => object][] = [
    ['flat', (task_id) => flat(task_id, 1, 'e')],
    ['flat with texts for numbers', (task_id) => flat(task_id, 1, 'e', { policy_id: String(policy.id), step: '1' })],
    ['with the agent as agent_id', (task_id) => flat(task_id, 1, 'e', { agent_key: undefined, agent_id })],
    ['with the key as agent_id', (task_id) => flat(task_id, 1, 'e', { agent_key: null, agent_id: 'a' })],
    ['without an agent, which the key has one of', (task_id) => flat(task_id, 1, 'e', { agent_key: undefined })],
    [
      'by manifest and name',
      (task_id) =>
        flat(task_id, 1, 'e', { policy_id: null, policy_name: policy.name, manifest_id: policy.manifest_id }),
    ],
    ['a line', (task_id) => lineOf(task_id, 1, 'e')],
    [
      'a step',
      (task_id) => ({
        agent_key: 'a',
        task_id,
        step: 1,
        step_type: 'step.exec',
        meta: { 'svc.incident': lineOf(task_id, 1, 'e') },
      }),
    ],
  ]
  it.each(shapes)('is counted once and answered alike: %s', async (_, bodyOf) => {
    const task_id = newTask()
    const first = await report(bodyOf(task_id))
    const again = await report(bodyOf(task_id))
    expect([first.status, first.body.outcome]).toEqual([201, 'new'])
    expect([again.status, again.body]).toEqual([201, first.body])
    expect(await incidentsOf(task_id)).toMatchObject([
      { id: first.body.incident_id, agent_id, occurrences: 1, severity: policy.severity, step: 1, scope: policy.scope },
    ])
  })

  it('has the details of the engine, without steps to send, and an event', async () => {
    const task_id = newTask()
    const evil = 'a\u0000b\\\\ud800 🙂\ud800'
    const details = { ...lineOf(task_id, 1, 'e').violation.violation_details, reason: evil, remedy_steps: [{}] }
    const evidence = [{ step: 1, step_type: 'step.exec', step_name: evil }, 'not a step']
    const { body } = await report(flat(task_id, 1, 'e', { violation_details: { ...details, evidence } }))
    const [incident] = await incidentsOf(task_id)
    const shown = evil.toWellFormed()
    expect(incident?.violation_details).toEqual({
      ...lineOf(task_id, 1, 'e').violation.violation_details,
      reason: shown,
      evidence: [{ step: 1, step_type: 'step.exec', step_name: shown }],
    })
    const events = await platform.call<EventList>('GET', `/api/v1/events?subject=${body.incident_id}`)
    expect(events.body.events.map(({ kind }) => kind)).toEqual(['incident.reported', 'incident.opened'])
  })

  it('counts on an open incident, opens one after a resolved one, and is nothing when waived', async () => {
    const task_id = newTask()
    const results = await reportAll([
      flat(task_id, 1, 'e1'),
      flat(task_id, 2, 'e2'),
      flat(task_id, 1, 'e1'),
      flat(task_id, 3, 'e3', { waived: true }),
    ])
    expect(results.map(({ outcome }) => outcome)).toEqual(['new', 'counted', 'new', 'waived'])
    const [incident] = await incidentsOf(task_id)
    expect(incident?.occurrences).toBe(2)
    await platform.call('POST', `/api/v1/incidents/${incident?.id}/resolve`)
    expect((await report(flat(task_id, 4, 'e4'))).body.outcome).toBe('new')
    expect((await report(flat(task_id, 2, 'e2'))).body).toEqual({ incident_id: incident?.id, outcome: 'counted' })
    expect(await incidentsOf(task_id)).toMatchObject([{ occurrences: 1 }, { occurrences: 2 }])
  })

  type Act = (task_id: string) => Promise<unknown>
  const own =
    (step: number, evaluation_id?: string): Act =>
    (task_id) =>
      log(task_id, step, evaluation_id === undefined ? {} : { 'svc.eval': { evaluation_id } })
  const sent =
    (step: number | null, evaluation_id: string | null): Act =>
    (task_id) =>
      report(flat(task_id, step, evaluation_id))
  /** Acts that are one occurrence, or as many as the number says, in whatever order they happen. */
  const same: [string, number, Act[]][] = [
    ['the same step, without an evaluation', 1, [own(1), sent(1, null)]],
    ['the same step, with an evaluation', 1, [own(1), sent(1, 'e')]],
    ['the same evaluation of another number', 1, [own(2, 'e'), sent(7, 'e')]],
    ['the same step and evaluation, twice', 1, [own(1, 'e'), sent(1, 'e'), sent(1, 'e')]],
    ['a report with and one without the evaluation', 1, [own(1, 'e'), sent(1, 'e'), sent(1, null)]],
    ['other steps', 2, [own(1), sent(2, 'e')]],
    ['two evaluations of two steps', 2, [own(1, 'e'), own(2, 'f'), sent(1, 'e'), sent(2, 'f')]],
    ['two reports of one step, which no log has', 2, [sent(1, 'e'), sent(1, 'f')]],
    ['two reports without a step', 2, [sent(null, 'e'), sent(null, 'f')]],
  ]
  const orders = same.flatMap(([name, count, acts]) => [
    { name, order: 'forwards', count, run: (task_id: string) => inOrder(acts, task_id) },
    { name, order: 'backwards', count, run: (task_id: string) => inOrder(acts.toReversed(), task_id) },
    { name, order: 'at once', count, run: (task_id: string) => Promise.all(acts.map((act) => act(task_id))) },
  ])
  const inOrder = async (acts: readonly Act[], task_id: string) => {
    for (const act of acts) await act(task_id)
  }
  it.each(orders)('is the occurrence that the platform finds: $name, $order', async ({ count, run }) => {
    const task_id = newTask()
    await run(task_id)
    const [incident, ...others] = await incidentsOf(task_id)
    expect([incident?.occurrences, others]).toEqual([count, []])
    expect(await occurrencesOf(incident as Incident)).toHaveLength(count)
  })

  it('leads to the log entry of its step, which arrives later', async () => {
    const task_id = newTask()
    await report(flat(task_id, 1, 'e'))
    expect(await occurrencesOf((await incidentsOf(task_id))[0] as Incident)).toMatchObject([
      { log_id: null, step: 1, evaluation_id: 'e', is_evaluated: false, is_reported: true },
    ])
    const { log_id } = (await log(task_id, 1)).body
    const [incident] = await incidentsOf(task_id)
    expect(incident?.log_id).toBe(log_id)
    expect(await occurrencesOf(incident as Incident)).toMatchObject([
      { log_id, step: 1, evaluation_id: 'e', is_evaluated: true, is_reported: true },
    ])
  })

  it('in advance hides nothing: the violation opens an incident after the resolution', async () => {
    const task_id = newTask()
    await report(flat(task_id, 1, 'e'))
    const [known] = await incidentsOf(task_id)
    await platform.call('POST', `/api/v1/incidents/${known?.id}/resolve`)
    const { log_id } = (await log(task_id, 1, { 'svc.eval': { evaluation_id: 'e' } })).body
    expect((await report(flat(task_id, 1, 'e'))).body.incident_id).toBe(known?.id)
    expect(await incidentsOf(task_id)).toMatchObject([
      { state: 'open', log_id, occurrences: 1 },
      { id: known?.id, state: 'resolved', log_id: null, occurrences: 1 },
    ])
  })

  it('makes nothing harmless: the mode of an enforced policy stays, and what the platform finds takes precedence', async () => {
    const task_id = newTask()
    const long = 'x'.repeat(900_000)
    const violation_details = {
      code: long,
      reason: long,
      rule_type: long,
      remedy: long,
      params: { long },
      evidence: [],
    }
    await report(flat(task_id, 1, 'e', { mode: 'observe', violation_details }))
    const { mode, rule_type } = policy
    const risk_score = 1
    const [reported] = await incidentsOf(task_id)
    expect(reported).toMatchObject({ mode, rule_type, risk_score, violation_details: { params: {}, rule_type } })
    expect(JSON.stringify(reported).length).toBeLessThan(20_000)
    await log(task_id, 1)
    const [found] = await incidentsOf(task_id)
    const { code, params, reason } = found?.violation_details ?? {}
    expect(found).toMatchObject({ id: reported?.id, mode, risk_score, occurrences: 1 })
    expect([code, params, reason?.includes('xx')]).toEqual(['GATE_MISSING', policy.params, false])
  })

  const wrong: [string, () => object | string, number, RegExp][] = [
    ['an unknown policy', () => flat('t', 1, 'e', { policy_id: 99_999 }), 422, /no policy 99999.*SVC_API_URL/],
    ['a policy of other files', () => flat('t', 1, 'e', { policy_name: 'Mine' }), 422, /`Mine`.*SVC_API_URL/],
    ['an unknown name', () => flat('t', 1, 'e', { policy_id: null, policy_name: 'x', manifest_id: 'm' }), 422, /`x`/],
    ['no policy', () => ({ agent_key: 'a', task_id: 't', step: 1 }), 422, /policy_id/],
    ['a policy of another type', () => flat('t', 1, 'e', { policy_id: [1] }), 422, /policy_id/],
    ['an unknown agent', () => flat('t', 1, 'e', { agent_key: 'unknown' }), 404, /`unknown`/],
    ['a step without a task', () => ({ policy_id: policy.id, agent_key: 'a', step: 1 }), 422, /task_id/],
    ['a step of another type', () => flat('t', 1, 'e', { step: 'one' }), 422, /step/],
    ['a text', () => 'incident', 422, /./],
    ['an empty list', () => [], 422, /1 to 100/],
    ['a list that is too long', () => Array.from({ length: 101 }, () => ({})), 422, /found 101/],
  ]
  it.each(wrong)('is rejected with the remedy: %s', async (_, bodyOf, status, detail) => {
    const answer = await report(bodyOf())
    expect(answer.status).toBe(status)
    expect(answer.body.detail).toMatch(detail)
  })

  it('that is wrong leaves the others of its list as they are', async () => {
    const task_id = newTask()
    const results = await reportAll([
      flat(task_id, 1, 'e'),
      { policy_id: 99_999, agent_key: 'a' },
      flat(task_id, 2, 'f'),
    ])
    expect(results.map(({ status }) => status)).toEqual([201, 422, 200])
    expect(results[1]?.problem?.detail).toContain('99999')
  })

  it('of the agent or the task of another key is 404, and its policy is unknown', async () => {
    const task_id = newTask()
    await log(task_id, 1)
    const made = await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: { name: 'other' } })
    const other = made.body.key
    const registered = { agent_key: 'z', owner_id: 'o', purpose: 'p' }
    await platform.call('POST', '/api/v1/agents', { as: other, body: registered })
    const answers = await Promise.all([
      report(flat(task_id, 2, 'e', { agent_key: 'z' }), other),
      report(flat(newTask(), 2, 'e', { agent_key: null, agent_id }), other),
      report(flat(newTask(), 2, 'e', { agent_key: 'z' }), other),
    ])
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 422])
    expect(await incidentsOf(task_id)).toMatchObject([{ occurrences: 1 }])
  })
})
