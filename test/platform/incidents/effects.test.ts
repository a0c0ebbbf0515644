// Whether the step of an occurrence ran: from its record, from the decision of an engine, and from both in any order.

import type { IncidentOccurrenceList, Policy, TraceAnswer } from '@svc/schemas'
import { type Effect, type EventList, effectWords, type Incident, type IncidentList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { summaryOf } from '../../../platform/incidents/actions/kinds/summary.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
let policy: Policy
beforeAll(async () => {
  platform = await startPlatform()
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a', owner_id: 'o', purpose: 'p' } })
  await send({ steps: [stepOf('probe', 1)] })
  const { incidents } = (await platform.call<IncidentList>('GET', '/api/v1/incidents?task_id=probe')).body
  const found = incidents.find(({ violation_details }) => violation_details.code === 'GATE_MISSING')
  policy = (await platform.call<Policy>('GET', `/api/v1/policies/${found?.policy_id}`)).body
})
afterAll(() => discard(platform))

async function send(lists: object): Promise<TraceAnswer> {
  const body = { agent_key: 'a', ...lists }
  const answer = await platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', body })
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  return answer.body
}

const timestamp = '2026-01-05T09:00:00Z'
/** A step that violates the policy. */
const stepOf = (task_id: string, step: number, more: object = {}) => {
  return { task_id, step, step_type: 'step.exec', timestamp, ...more }
}
const violationOf = (more: object = {}) => ({ policy_id: policy.id, name: policy.name, code: 'GATE_MISSING', ...more })
const decisionOf = (task_id: string, evaluation_id: string, outcome: string, more: object = {}) => ({
  task_id,
  evaluation_id: `${task_id}-${evaluation_id}`,
  decided_at: timestamp,
  outcome,
  reason: 'no gate',
  intended: { step_type: 'step.exec' },
  violations: [violationOf()],
  ...more,
})

type Act = (task_id: string) => Promise<unknown>
/** A recorded step; its evaluation is that of a decision. */
const ran =
  (step: number, evaluation_id?: string, output: object = {}): Act =>
  (task_id) => {
    const meta = evaluation_id === undefined ? {} : { 'svc.eval': { evaluation_id: `${task_id}-${evaluation_id}` } }
    return send({ steps: [stepOf(task_id, step, { output, meta })] })
  }
const stopped = (step: number, evaluation_id?: string) => ran(step, evaluation_id, { status: 'blocked' })
/** A decision whose step was not recorded. */
const decided =
  (evaluation_id: string, outcome: string): Act =>
  (task_id) =>
    send({ unrecorded: decisionOf(task_id, evaluation_id, outcome) })
const reported =
  (step: number | null, evaluation_id: string, more: object = {}): Act =>
  (task_id) =>
    send({
      incidents: {
        evaluation_id: `${task_id}-${evaluation_id}`,
        task_id,
        step,
        violation: { policy_id: policy.id, violation_details: {} },
        ...more,
      },
    })
const defied = { reason: 'executed_although_blocked' }

const cases: [string, Act[], Partial<Record<Effect, number>>][] = [
  ['a step that ran', [ran(1)], { executed: 1 }],
  ['a step that failed', [ran(1, 'e', { status: 'error' })], { executed: 1 }],
  ['a step recorded as blocked', [stopped(1)], { blocked: 1 }],
  ['a decision to block', [decided('e', 'block')], { blocked: 1 }],
  ['a decision to ask', [decided('e', 'ask')], { blocked: 1 }],
  ['a decision to allow with a warning', [decided('e', 'warn')], { unknown: 1 }],
  ['a decision that is sent again', [decided('e', 'block'), decided('e', 'block')], { blocked: 1 }],
  ['a decision and its step, which was stopped', [decided('e', 'block'), stopped(4, 'e')], { blocked: 1 }],
  ['a decision and its step, which ran all the same', [decided('e', 'block'), ran(4, 'e')], { executed: 1 }],
  ['a warning and its step', [decided('e', 'warn'), ran(4, 'e')], { executed: 1 }],
  ['a warning and its step, which was stopped', [decided('e', 'warn'), stopped(4, 'e')], { blocked: 1 }],
  ['a decision and another step', [decided('e', 'block'), ran(4, 'f')], { blocked: 1, executed: 1 }],
  ['a decision and the report of it', [decided('e', 'block'), reported(4, 'e')], { blocked: 1 }],
  ['a decision and the report that it ran', [decided('e', 'block'), reported(4, 'e', defied)], { executed: 1 }],
  ['a report', [reported(4, 'e')], { unknown: 1 }],
  ['a report of a stopped step', [reported(4, 'e', { effect: 'blocked' })], { blocked: 1 }],
  ['a report and its step', [reported(4, 'e'), stopped(4, 'e')], { blocked: 1 }],
  ['all three of one step', [decided('e', 'block'), reported(4, 'e'), ran(4, 'e')], { executed: 1 }],
  [
    'one step that ran and three that did not',
    [ran(1), decided('e', 'block'), decided('f', 'block'), stopped(3, 'g')],
    { executed: 1, blocked: 3 },
  ],
]
const inOrder = async (acts: readonly Act[], task_id: string) => {
  for (const act of acts) await act(task_id)
}
const orders = cases.flatMap(([name, acts, expected]) => [
  { name, expected, order: 'forwards', run: (task_id: string) => inOrder(acts, task_id) },
  ...(acts.length < 2
    ? []
    : [
        { name, expected, order: 'backwards', run: (task_id: string) => inOrder(acts.toReversed(), task_id) },
        { name, expected, order: 'at once', run: (task_id: string) => Promise.all(acts.map((act) => act(task_id))) },
      ]),
])

let tasks = 0
const newTask = () => `e${tasks++}`
const incidentsOf = async (task_id: string, more = '') => {
  const path = `/api/v1/incidents?task_id=${task_id}&policy_id=${policy.id}${more}`
  return (await platform.call<IncidentList>('GET', path)).body.incidents
}
const occurrencesOf = async ({ id }: Incident) =>
  (await platform.call<IncidentOccurrenceList>('GET', `/api/v1/incidents/${id}/occurrences`)).body.occurrences
const eventsOf = async (subject: string, kind: string) =>
  (await platform.call<EventList>('GET', `/api/v1/events?subject=${subject}&kind=${kind}`)).body.events
const worst = ({ executed = 0, unknown = 0 }: Partial<Record<Effect, number>>): Effect =>
  executed > 0 ? 'executed' : unknown > 0 ? 'unknown' : 'blocked'

describe('the effect of', () => {
  it.each(orders)('$name, $order', async ({ expected, run }) => {
    const task_id = newTask()
    await run(task_id)
    const [incident, ...others] = await incidentsOf(task_id)
    const effects = { blocked: 0, executed: 0, unknown: 0, ...expected }
    const occurrences = effects.blocked + effects.executed + effects.unknown
    expect([incident, others]).toMatchObject([{ effects, effect: worst(expected), occurrences }, []])
    const found = await occurrencesOf(incident as Incident)
    const counted = Object.entries(effects).map(([effect]) => found.filter((one) => one.effect === effect).length)
    expect([found.length, counted]).toEqual([occurrences, Object.values(effects)])
    for (const effect of ['blocked', 'executed', 'unknown'])
      expect(await incidentsOf(task_id, `&effect=${effect}`)).toHaveLength(effect === worst(expected) ? 1 : 0)
    // The log shows the last effect: that of the opening, or of the last change.
    const [last] = await eventsOf(incident?.id ?? '', 'incident.effect_changed')
    if (last !== undefined) expect(last.data.to).toBe(worst(expected))
  })
})

describe('a decision without a recorded step', () => {
  it('is an occurrence with the details of the engine, and the step once it is recorded', async () => {
    const task_id = newTask()
    await decided('e', 'block')(task_id)
    const [opened] = await incidentsOf(task_id)
    expect(opened).toMatchObject({
      severity: policy.severity,
      mode: policy.mode,
      rule_type: policy.rule_type,
      step: null,
      log_id: null,
      violation_details: { code: 'GATE_MISSING', reason: 'no gate' },
    })
    expect(await occurrencesOf(opened as Incident)).toMatchObject([
      {
        step: null,
        evaluation_id: `${task_id}-e`,
        is_evaluated: false,
        is_reported: true,
        reported_reason: 'unrecorded',
      },
    ])
    await ran(4, 'e')(task_id)
    const [joined] = await incidentsOf(task_id)
    expect(joined).toMatchObject({ id: opened?.id, step: 4, log_id: expect.any(String) })
    expect(await occurrencesOf(joined as Incident)).toMatchObject([{ step: 4, is_evaluated: true }])
    expect(await eventsOf(opened?.id ?? '', 'incident.effect_changed')).toMatchObject([
      { data: { from: 'blocked', to: 'executed' } },
    ])
  })

  it('counts each violation of it once, of policies of the workspace', async () => {
    const task_id = newTask()
    const violations = [
      violationOf(),
      violationOf({ policy_id: String(policy.id) }),
      violationOf({ policy_id: 99_999 }),
    ]
    const more = { violations: [...violations, violationOf({ name: 'of other files' }), { name: 'no id' }] }
    const { unrecorded } = await send({ unrecorded: decisionOf(task_id, 'e', 'block', more) })
    expect(unrecorded).toEqual([{ status: 201, replayed: false }])
    expect(await incidentsOf(task_id)).toMatchObject([{ occurrences: 1 }])
    const [event] = await eventsOf(task_id, 'step.unrecorded')
    expect(event?.data.violations).toHaveLength(5)
  })

  it('that was waived makes none', async () => {
    const task_id = newTask()
    await send({ unrecorded: decisionOf(task_id, 'e', 'allow', { violations: [violationOf({ waived: true })] }) })
    expect(await incidentsOf(task_id)).toEqual([])
    expect(await eventsOf(task_id, 'step.unrecorded')).toMatchObject([{ data: { violations: [{ waived: true }] } }])
  })

  it('is counted for each of many, in parts', async () => {
    const task_id = newTask()
    const unrecorded = Array.from({ length: 250 }, (_, index) => decisionOf(task_id, `e${index}`, 'block'))
    expect((await send({ unrecorded })).unrecorded).toHaveLength(250)
    expect((await send({ unrecorded })).unrecorded.every(({ replayed }) => replayed)).toBe(true)
    expect(await incidentsOf(task_id)).toMatchObject([{ occurrences: 250, effects: { blocked: 250 } }])
  })
})

it.each([
  [{ blocked: 1, executed: 0, unknown: 0 }, '1 stopped before it ran'],
  [{ blocked: 3, executed: 1, unknown: 0 }, '1 executed, 3 stopped before they ran'],
  [{ blocked: 0, executed: 0, unknown: 2 }, '2 with no record of whether they ran'],
])('%j reads as a sentence', async (effects, expected) => {
  expect(effectWords(effects).join(', ')).toBe(expected)
  const [incident] = await incidentsOf('probe')
  const data = { incident: { ...incident, effects } }
  const { lines } = summaryOf({ type: 'incident.created', timestamp, data }, null)
  expect(lines).toContain(`effect: ${expected}`)
})
