// Questions that expired, and whose steps a person approved later: which incidents are resolved, by whom, and why.
import { actionDigest } from '@svc/proof'
import type {
  Behavior,
  EventList,
  Incident,
  IncidentList,
  IncidentOccurrenceList,
  LogCheckpoint,
  Policy,
  TraceAnswer,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { deliveriesOf, makeAction } from '../../support/http/actions.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { fast } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

const auditor = openAuditorFolder()
let platform: TestPlatform
const policies: Record<string, Policy> = {}
beforeAll(async () => {
  platform = await startPlatform({ env: fast })
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a', owner_id: 'o', purpose: 'p' } })
  for (const [key, rule] of Object.entries(rules)) {
    const body = { name: key, severity: 'critical', scope: 'step_execution', ...rule }
    const { status, body: policy } = await platform.call<Policy>('POST', '/api/v1/policies', { body })
    expect([status, policy]).toEqual([201, expect.anything()])
    policies[key] = policy
  }
})
afterAll(async () => {
  await discard(platform)
  auditor.clear()
})

const approval = { check_type: 'human_approval' }
const rules: Record<string, object> = {
  // The approval makes the first one pass. The gate satisfies the rule of the second one itself.
  pay: { rule_type: 'field_in_list', params: { field: 'input.to', values: [], target_step_names: ['pay'] }, approval },
  mail: {
    rule_type: 'gate_binds_action',
    params: { gate_check_type: 'human_approval', target_step_names: ['mail'] },
    approval,
  },
  note: { rule_type: 'field_not_empty', params: { field: 'input.note', target_step_names: ['pay'] }, severity: 'high' },
}

const begin = Date.parse('2026-01-05T09:00:00Z')
/** Minutes after the begin. */
const at = (minutes: number) => new Date(begin + minutes * 60_000).toISOString()
const stepOf = (name: string, to = 'roofer'): Behavior => {
  return { step_type: 'step.resource', verb: 'POST', step_name: name, input: { to, note: 'roof' } }
}

interface Played {
  readonly task_id: string
  step: number
}
type Act = (played: Played) => Promise<unknown>

async function send(lists: object): Promise<TraceAnswer> {
  const body = { agent_key: 'a', ...lists }
  const answer = await platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', body })
  const { results, unrecorded } = answer.body
  expect([...results, ...unrecorded].filter(({ status }) => status >= 300)).toEqual([])
  return answer.body
}

/** The report of a question; by default asked at the begin, and it names the policy of its step. */
const line = (task_id: string, id: string, name = 'pay', { to, minutes = 0, of = [name], ...more }: Asked = {}) => ({
  kind: 'unrecorded',
  task_id,
  evaluation_id: `${task_id}-${id}`,
  decided_at: at(minutes),
  outcome: 'ask',
  reason: 'not approved',
  action_digest: actionDigest(stepOf(name, to)),
  intended: { step_type: 'step.resource', step_name: name },
  violations: of.map((key) => ({ policy_id: policies[key]?.id, name: key, code: 'C' })),
  ...more,
})
type Asked = { to?: string; minutes?: number; of?: string[] } & Record<string, unknown>
const expires =
  (id: string, name = 'pay', asked: Asked = {}): Act =>
  ({ task_id }) =>
    send({ unrecorded: line(task_id, id, name, asked) })
const next = (played: Played) => {
  played.step += 1
  return { task_id: played.task_id, step: played.step }
}
const records =
  (step: Behavior, minutes = 10): Act =>
  (played) =>
    send({ steps: [{ ...step, ...next(played), timestamp: at(minutes) }] })
const runs = (name = 'pay', to?: string, minutes = 10, more: object = {}) =>
  records({ ...stepOf(name, to), ...more }, minutes)
const gate = (result = 'passed', name = 'pay', to?: string, minutes = 9, check_type = 'human_approval') =>
  records(
    {
      step_type: 'step.gate',
      input: { action_digest: actionDigest(stepOf(name, to)) },
      properties: { guard: { check_type, result } },
    },
    minutes,
  )
const ends = records({ step_type: 'task.end' })
const moves =
  (move: string): Act =>
  async ({ task_id }) => {
    const [incident] = await incidentsOf(task_id)
    const path = `/api/v1/incidents/${incident?.id}/${move}`
    expect((await platform.call('POST', path, { body: { note: 'by a member' } })).status).toBe(200)
  }

const incidentsOf = async (task_id: string, by = platform) => {
  const { incidents } = (await by.call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)).body
  const own = Object.values(policies).map(({ id }) => id)
  return incidents.filter(({ policy_id }) => own.includes(policy_id)).toReversed()
}
const occurrencesOf = async ({ id }: Incident) =>
  (await platform.call<IncidentOccurrenceList>('GET', `/api/v1/incidents/${id}/occurrences`)).body.occurrences
const shown = ({ policy_name, state, history }: Incident) => [policy_name, state, history.at(-1)?.by ?? null]

const settled = 'system:approvals'
const cases: readonly [string, readonly Act[], readonly unknown[]][] = [
  ['a gate and its step', [expires('e'), gate(), runs()], [['pay', 'resolved', settled]]],
  [
    'a gate that its rule asks for',
    [expires('e', 'mail'), gate('passed', 'mail'), runs('mail')],
    [['mail', 'resolved', settled]],
  ],
  ['a gate before the report', [gate(), expires('e'), runs()], [['pay', 'resolved', settled]]],
  ['a gate alone', [expires('e'), gate()], [['pay', 'open', null]]],
  ['a rejection', [expires('e'), gate('rejected'), runs()], [['pay', 'open', null]]],
  [
    'a gate of another kind',
    [expires('e'), gate('passed', 'pay', undefined, 9, 'lint'), runs()],
    [['pay', 'open', null]],
  ],
  [
    'an approval of another action',
    [expires('e'), gate('passed', 'pay', 'plumber'), runs('pay', 'plumber')],
    [['pay', 'open', null]],
  ],
  ['a gate and another action', [expires('e'), gate(), runs('pay', 'plumber')], [['pay', 'open', null]]],
  ['the end of the task after the gate', [expires('e'), gate(), ends, runs()], [['pay', 'open', null]]],
  [
    'a step that was stopped',
    [expires('e'), gate(), runs('pay', undefined, 10, { output: { status: 'blocked' } })],
    [['pay', 'open', null]],
  ],
  [
    'a used gate',
    [gate(), runs('pay', undefined, 10), expires('e', 'pay', { minutes: 11 }), runs('pay', undefined, 12)],
    [['pay', 'open', null]],
  ],
  [
    'an approved step before the question',
    [gate(), runs('pay', undefined, 10), expires('e', 'pay', { minutes: 11 })],
    [['pay', 'open', null]],
  ],
  ['a report after the approved step', [gate(), runs(), expires('e')], []],
  ['a report after the approved step of its rule', [gate('passed', 'mail'), runs('mail'), expires('e', 'mail')], []],
  [
    'a report without a digest',
    [expires('e', 'pay', { action_digest: undefined }), gate(), runs()],
    [['pay', 'open', null]],
  ],
  [
    'a report with another text as digest',
    [expires('e', 'pay', { action_digest: 'x' }), gate(), runs()],
    [['pay', 'open', null]],
  ],
  ['a decision to block', [expires('e', 'pay', { outcome: 'block' }), gate(), runs()], [['pay', 'open', null]]],
  [
    'a question about two policies',
    [expires('e', 'pay', { of: ['pay', 'note'] }), gate(), runs()],
    [
      ['pay', 'resolved', settled],
      ['note', 'open', null],
    ],
  ],
  ['two questions about one action', [expires('e'), expires('f'), gate(), runs()], [['pay', 'resolved', settled]]],
  [
    'one of two questions',
    [expires('e'), expires('f', 'pay', { to: 'plumber' }), gate(), runs()],
    [['pay', 'open', null]],
  ],
  [
    'both of two questions, one after the other',
    [
      expires('e'),
      expires('f', 'pay', { to: 'plumber' }),
      gate(),
      runs(),
      gate('passed', 'pay', 'plumber'),
      runs('pay', 'plumber'),
    ],
    [['pay', 'resolved', settled]],
  ],
  ['a step that ran without an approval before', [expires('e'), runs(), gate(), runs()], [['pay', 'open', null]]],
  [
    'an incident that a member ignored',
    [expires('e'), moves('ignore'), gate(), runs()],
    [['pay', 'ignored', 'operator:local']],
  ],
  [
    'an incident that a member resolved',
    [expires('e'), moves('resolve'), gate(), runs()],
    [['pay', 'resolved', 'operator:local']],
  ],
  ['an incident that a member reviews', [expires('e'), moves('review'), gate(), runs()], [['pay', 'active', settled]]],
]

let tasks = 0
const play = async (acts: readonly Act[]) => {
  const played = { task_id: `q${tasks++}`, step: 0 }
  for (const act of acts) await act(played)
  return played.task_id
}

describe('an expired question, then', () => {
  it.each(cases)('%s', async (_, acts, expected) => {
    expect((await incidentsOf(await play(acts))).map(shown)).toEqual(expected)
  })

  it('its approved step in one request: no incident is opened', async () => {
    const task_id = `q${tasks++}`
    const played = { task_id, step: 0 }
    const steps = [
      {
        step_type: 'step.gate',
        input: { action_digest: actionDigest(stepOf('pay')) },
        properties: { guard: { ...approval, result: 'passed' } },
      },
      stepOf('pay'),
    ]
    await send({
      unrecorded: line(task_id, 'e'),
      steps: steps.map((step) => ({ ...step, ...next(played), timestamp: at(10) })),
    })
    expect(await incidentsOf(task_id)).toEqual([])
    const { events } = (await platform.call<EventList>('GET', `/api/v1/events?subject=${task_id}&kind=step.unrecorded`))
      .body
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain(line(task_id, 'e').action_digest)
  })

  it('its incident says why, by an event of the system, and no person reviewed it', async () => {
    const { action } = await makeAction(platform, { on: ['incident.changed'], config: { url: 'http://127.0.0.1:9/' } })
    const [incident] = await incidentsOf(await play([expires('e'), gate(), runs()]))
    const note = 'a person approved the step (gate at step 1), and it was recorded as step 2'
    expect(incident).toMatchObject({
      reviewed_by: null,
      note,
      effect: 'blocked',
      history: [{ from: 'open', to: 'resolved', note }],
    })
    expect(await occurrencesOf(incident as Incident)).toMatchObject([
      { step: null, effect: 'blocked', approved_by_step: 1, settled_by_step: 2 },
    ])
    const { events } = (
      await platform.call<EventList>('GET', `/api/v1/events?subject=${incident?.id}&kind=incident.resolved`)
    ).body
    expect(events).toMatchObject([
      {
        actor_kind: 'system',
        actor_id: 'approvals',
        log_index: expect.any(Number),
        data: { from: 'open', to: 'resolved', note },
      },
    ])
    expect(await deliveriesOf(platform, action.id)).toMatchObject([
      { type: 'incident.changed', subject_id: incident?.id },
    ])
  })

  it('the same step again is a violation of its own', async () => {
    const task_id = await play([expires('e'), gate(), runs(), runs('pay', undefined, 11)])
    expect((await incidentsOf(task_id)).map(shown)).toEqual([
      ['pay', 'resolved', settled],
      ['pay', 'open', null],
    ])
  })

  it('a restart of the platform between the report and the approval', async () => {
    const played = { task_id: 'restarted', step: 0 }
    await expires('e')(played)
    platform = await platform.restart()
    await gate()(played)
    await runs()(played)
    expect((await incidentsOf('restarted')).map(shown)).toEqual([['pay', 'resolved', settled]])
  })

  it('an erasure of its task: nothing settles it', async () => {
    const played = { task_id: 'erased', step: 0 }
    for (const act of [records({ step_type: 'task.start' }), expires('e')]) await act(played)
    const body = { task_id: 'erased', legal_basis: 'request' }
    expect((await platform.call('POST', '/api/v1/erasures', { body })).status).toBe(201)
    for (const act of [gate(), runs()]) await act(played)
    expect((await incidentsOf('erased')).map(shown)).toEqual([['pay', 'open', null]])
  })
})

it('the log of all of this verifies for an auditor, with both verifiers', async () => {
  const { events } = (await platform.call<EventList>('GET', '/api/v1/events?limit=1')).body
  const { key } = await vi.waitFor(async () => {
    const { body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    expect(body.size).toBeGreaterThan(events[0]?.log_index ?? Number.POSITIVE_INFINITY)
    return body
  }, soon)
  const bundle = await downloadBundle(platform)
  const verdict = await verifyWithBoth(auditor.put('bundle.zip', bundle), `log ${key}\n`, auditor)
  expect(verdict).toMatchObject({ valid: true, findings: [] })
})
