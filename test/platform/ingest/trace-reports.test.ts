// Decisions without a recorded step, and gaps: what POST /api/v1/traces makes of them, once, and who is told.
import type { AuditEvent, EventList, TraceAnswer } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { summaryOf } from '../../../platform/incidents/actions/kinds/summary.js'
import { deliveriesOf, makeAction } from '../../support/http/actions.js'
import { type Receiver, startReceiver } from '../../support/people/receiver.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

let platform: TestPlatform
let receiver: Receiver
const agents: Record<string, string> = {}
beforeAll(async () => {
  receiver = await startReceiver()
  platform = await startPlatform()
  for (const agent_key of ['a', 'b']) {
    const { body } = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key },
    })
    agents[agent_key] = body.agent_id
  }
})
afterAll(async () => {
  await discard(platform)
  await receiver.stop()
})

let ids = 0
const fresh = (name: string) => `${name}${ids++}`
const post = async (lists: object, agent_key = 'a') => {
  const body = { agent_key, ...lists }
  const answer = await platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', body })
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  return answer.body
}
const eventsOf = async (subject: string, kind: string): Promise<AuditEvent[]> =>
  (await platform.call<EventList>('GET', `/api/v1/events?subject=${subject}&kind=${kind}`)).body.events
/** The line that `svc serve` writes. */
const unrecorded = (task_id: string, more: object = {}) => ({
  kind: 'unrecorded',
  recorded_at: '2026-01-05T09:10:00.000Z',
  task_id,
  agent_id: 'desk',
  evaluation_id: fresh('e'),
  decided_at: '2026-01-05T09:00:00.000Z',
  outcome: 'allow',
  reason: null,
  action_digest: '0'.repeat(64),
  intended: { step_type: 'step.resource', verb: 'POST', step_name: 'pay' },
  violations: [],
  ...more,
})
const gap = (task_id: string | null, more: object = {}) => ({
  kind: 'gap',
  recorded_at: '2026-01-05T09:10:00.000Z',
  gap_id: fresh('g'),
  task_id,
  steps: 3,
  first_step: 4,
  last_step: 6,
  from: '2026-01-05T09:00:00.000Z',
  to: '2026-01-05T09:00:02.000Z',
  reason: 'spool_full',
  ...more,
})
const made = { status: 201, replayed: false }
const again = { status: 200, replayed: true }

describe('a decision without a recorded step', () => {
  it('is an event of its task, which is a leaf of the log, once', async () => {
    const task_id = fresh('t')
    const violations = [{ policy_id: 3, name: 'Payments', code: 'C', more: 1 }]
    const line = unrecorded(task_id, { outcome: 'block', reason: 'too much', violations })
    expect((await post({ unrecorded: [line, line] })).unrecorded).toEqual([made, again])
    expect((await post({ unrecorded: line })).unrecorded).toEqual([again])
    expect(await eventsOf(task_id, 'step.unrecorded')).toMatchObject([
      {
        subject_kind: 'task',
        actor_kind: 'api_key',
        log_index: expect.any(Number),
        data: {
          agent_id: agents.a,
          evaluation_id: line.evaluation_id,
          outcome: 'block',
          step_type: 'step.resource',
          step_name: 'pay',
          verb: 'POST',
          reason: 'too much',
          decided_at: line.decided_at,
          violations: [{ policy_id: 3, name: 'Payments', code: 'C' }],
        },
      },
    ])
  })

  it.each([149, '149'])('says how many others came with it: %j', async (others) => {
    const task_id = fresh('t')
    expect((await post({ unrecorded: unrecorded(task_id, { others }) })).unrecorded).toEqual([made])
    expect(await eventsOf(task_id, 'step.unrecorded')).toMatchObject([{ data: { others: 149 } }])
  })

  it('is one event when it is sent many times at once', async () => {
    const lines = Array.from({ length: 5 }, () => unrecorded(fresh('t')))
    const answers = await Promise.all(Array.from({ length: 6 }, () => post({ unrecorded: lines })))
    const statuses = answers.flatMap((answer) => answer.unrecorded.map(({ status }) => status))
    expect(statuses.filter((status) => status === 201)).toHaveLength(5)
    for (const { task_id } of lines) expect(await eventsOf(task_id, 'step.unrecorded')).toHaveLength(1)
  })

  it('has texts and lists that are cut, and no character that the database rejects', async () => {
    const task_id = fresh('t')
    const long = `\0🙂\ud800${'x'.repeat(600)}`
    const violations = Array.from({ length: 30 }, () => ({ policy_id: long, name: long, code: null }))
    const intended = { step_type: 'later.kind', step_name: long, verb: long, input: { secret: 1 } }
    const [result] = (await post({ unrecorded: [unrecorded(task_id, { reason: long, violations, intended })] }))
      .unrecorded
    expect(result).toEqual(made)
    const [event] = await eventsOf(task_id, 'step.unrecorded')
    const { reason, step_name, violations: kept } = (event?.data ?? {}) as Record<string, string & unknown[]>
    expect([reason?.length, step_name?.length, kept?.length]).toEqual([501, 201, 20])
    expect(reason).toMatch(/^\ufffd🙂\ufffdx+…$/)
    expect(JSON.stringify(event)).not.toContain('secret')
  })

  it('of a logged task belongs to its agent', async () => {
    const task_id = fresh('t')
    await post({ steps: [{ task_id, step: 1, step_type: 'task.start', timestamp: '2026-01-05T09:00:00Z' }] })
    const line = unrecorded(task_id)
    expect((await post({ unrecorded: [line], gaps: [gap(task_id)] }, 'b')).unrecorded).toMatchObject([
      { status: 409, problem: { code: 'CONFLICT' } },
    ])
    expect((await post({ unrecorded: [line] })).unrecorded).toEqual([made])
  })

  it('of one agent hides none of another', async () => {
    const [mine, theirs] = [unrecorded(fresh('t')), unrecorded(fresh('t'))]
    const evaluation_id = mine.evaluation_id
    await post({ unrecorded: [mine] })
    expect((await post({ unrecorded: [{ ...theirs, evaluation_id }] }, 'b')).unrecorded).toEqual([made])
  })

  it.each([
    ['another kind', { kind: 'step' }, 'kind'],
    ['no id', { evaluation_id: '' }, 'evaluation_id'],
    ['an unknown outcome', { outcome: 'allowed' }, 'outcome'],
    ['no time', { decided_at: 'now' }, 'decided_at'],
    ['no type', { intended: {} }, 'intended.step_type'],
    ['text for its step', { intended: 'pay' }, 'intended'],
    ['a number as reason', { reason: 7 }, 'reason'],
  ])('is rejected alone with %s', async (_, change, path) => {
    const { unrecorded: results } = await post({ unrecorded: [unrecorded('t', change), unrecorded('t')] })
    expect(results).toMatchObject([{ status: 422, problem: { errors: [{ path }] } }, made])
  })
})

describe('a gap', () => {
  it('is an event of its task, or of the agent, once', async () => {
    const task_id = fresh('t')
    const [one, several] = [gap(task_id), gap(null, { first_step: null, last_step: null, steps: '70' })]
    expect((await post({ gaps: [one, several] })).gaps).toEqual([made, made])
    expect((await post({ gaps: [several, one] })).gaps).toEqual([again, again])
    const { steps, first_step, last_step, from, to, reason } = one
    expect(await eventsOf(task_id, 'trace.gap')).toMatchObject([
      { subject_kind: 'task', data: { agent_id: agents.a, steps, first_step, last_step, from, to, reason } },
    ])
    expect(await eventsOf(agents.a ?? '', 'trace.gap')).toMatchObject([
      { subject_kind: 'agent', data: { steps: 70, first_step: null, last_step: null } },
    ])
  })

  it('has an id of its own, which is not that of a decision', async () => {
    const id = fresh('same')
    const task_id = fresh('t')
    const answer = await post({
      unrecorded: unrecorded(task_id, { evaluation_id: id }),
      gaps: gap(task_id, { gap_id: id }),
    })
    expect([answer.unrecorded, answer.gaps]).toEqual([[made], [made]])
  })

  it.each([
    ['no id', { gap_id: null }, 'gap_id'],
    ['a negative number', { steps: -1 }, 'steps'],
    ['a number that is too large', { steps: '9'.repeat(40) }, 'steps'],
    ['an end before its beginning', { first_step: 6, last_step: 4 }, 'last_step'],
    ['no time', { from: '2026-13-01T00:00:00Z' }, 'from'],
  ])('is rejected alone with %s', async (_, change, path) => {
    const { gaps } = await post({ gaps: [gap(null, change), gap(null)] })
    expect(gaps).toMatchObject([{ status: 422, problem: { errors: [{ path }] } }, made])
  })
})

describe('an action', () => {
  it('is told of both, by agent, and once of a step that an agent repeats', async () => {
    const config = { url: receiver.url }
    const on = ['step.unrecorded', 'trace.gap']
    const { action } = await makeAction(platform, { on, config, agent_ids: agents.b })
    const task_id = fresh('t')
    await post({ unrecorded: [unrecorded(fresh('t'))], gaps: [gap(null)] })
    const repeated = [unrecorded(task_id), unrecorded(task_id), unrecorded(task_id, { outcome: 'block' })]
    await post({ unrecorded: repeated, gaps: [gap(null), gap(task_id)] }, 'b')
    expect((await deliveriesOf(platform, action.id)).map((one) => [one.type, one.subject_kind])).toEqual([
      ['step.unrecorded', 'task'],
      ['step.unrecorded', 'task'],
      ['trace.gap', 'agent'],
      ['trace.gap', 'task'],
    ])
    expect(await eventsOf(task_id, 'step.unrecorded')).toHaveLength(3)
    await vi.waitFor(() => expect(receiver.received).toHaveLength(4), soon)
    const [first, , other] = receiver.received
      .toSorted((a, b) => a.body.type.localeCompare(b.body.type))
      .map(({ body }) => body)
    expect(first?.data.decision).toMatchObject({ task_id, agent_id: agents.b, outcome: 'allow', step_name: 'pay' })
    expect(other?.data.gap).toMatchObject({ agent_id: agents.b, steps: 3 })
  })

  it('reads as a sentence and its facts', () => {
    const shown = (type: string, data: object) =>
      summaryOf({ type, timestamp: '2026-01-05T09:10:00.000Z', data: { it: data } }, null)
    const { title, lines } = shown('step.unrecorded', { task_id: 't', outcome: 'allow', reason: null, violations: [] })
    expect(title).toBe('a step was not recorded in time after its decision')
    expect(lines).toEqual(['task_id: t', 'outcome: allow', 'at: 2026-01-05T09:10:00.000Z'])
    expect(shown('trace.gap', { steps: 3 }).title).toContain('missing')
  })
})
