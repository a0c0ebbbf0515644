// Which steps a gate approves, and which gates approve a step, as the API and the pages show it.
import { actionDigest, fieldsDigest } from '@svc/proof'
import type { LogList, Policy, Step, StepApproval, TaskTimeline } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent } from '../../support/http/actions.js'
import { startTeam, type Team } from '../../support/people/pages.js'

const timestamp = '2026-01-05T09:00:00Z'
const start = { step_type: 'task.start' }
const end = { step_type: 'task.end' }
const pay = { step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { to: 'anna', amount: 40 } }
const other = { ...pay, input: { to: 'bert', amount: 9 } }
const blocked = { output: { status: 'blocked' } }
const look = (n: number) => ({ step_type: 'step.resource', verb: 'GET', step_name: 'look', input: { n } })

const gateOf = (digest: string | null, guard: object = {}) => ({
  step_type: 'step.gate',
  ...(digest !== null && { input: { action_digest: digest } }),
  properties: { guard: { check_type: 'human_approval', result: 'passed', approver: 'carla@example.org', ...guard } },
})
const gate = (step: object, guard: object = {}) => gateOf(actionDigest(step as Step), guard)
const rejected = { result: 'rejected' }

let team: Team
const log = async (task_id: string, steps: readonly object[]) => {
  const entries = steps.map((step, index) => ({ task_id, step: index + 1, timestamp, ...step }))
  for (let from = 0; from < entries.length; from += 500) {
    const body = { entries: entries.slice(from, from + 500) }
    expect((await team.platform.call('POST', '/api/v1/logs/batch', { as: 'key', body })).status).toBe(200)
  }
}
const timeline = async (task_id: string, query = '') =>
  (await team.platform.call<TaskTimeline>('GET', `/api/v1/tasks/${task_id}/steps?approvals=true&limit=200${query}`))
    .body

/** `6>7` for a gate that approves a step, `6>` for one that approves none, `6>?` where not all steps were compared. */
const gatesIn = (steps: readonly { readonly step: number; readonly approval?: StepApproval }[]) =>
  steps.flatMap(({ step, approval }) => {
    const found = approval?.gate
    if (found === null || found === undefined) return []
    const numbers = found.approves.map((one) => one.step).join()
    return [`${step}>${numbers}${numbers !== '' || found.is_complete ? '' : '?'}`]
  })
/** `7<6` for a step that a gate approves. */
const stepsIn = (steps: readonly { readonly step: number; readonly approval?: StepApproval }[]) =>
  steps.flatMap(({ step, approval }) => (approval?.approved_by ?? []).map((one) => `${step}<${one.step}`))

beforeAll(async () => {
  team = await startTeam()
  await registerAgent(team.platform)
})
afterAll(() => team.close())

describe('approvals of steps', () => {
  it.each<readonly [title: string, steps: readonly object[], gates: readonly string[], approved: readonly string[]]>([
    ['a gate and the step that it names', [start, gate(pay), look(1), pay, end], ['2>4'], ['4<2']],
    ['one gate, and the step twice: the first uses it', [start, gate(pay), pay, pay], ['2>3'], ['3<2']],
    ['two gates: the later one counts', [start, gate(pay), gate(pay), pay], ['2>', '3>4'], ['4<3']],
    ['another step', [start, gate(pay), other, end], ['2>'], []],
    ['a step that was blocked', [start, gate(pay), { ...pay, ...blocked }], ['2>'], []],
    ['a step before the gate', [start, pay, gate(pay)], ['3>'], []],
    ['an end between them', [start, gate(pay), end, pay], ['2>'], []],
    ['a rejection of this step', [start, gate(pay), gate(pay, rejected), pay], ['2>', '3>'], []],
    ['a rejection of all', [start, gate(pay), gateOf(null, rejected), pay], ['2>', '3>'], []],
    ['a gate that names no step', [start, gateOf(null), pay], ['2>'], []],
  ])('match: %s', async (title, steps, gates, approved) => {
    await log(title, steps)
    const found = await timeline(encodeURIComponent(title))
    expect([gatesIn(found.steps), stepsIn(found.steps)]).toEqual([gates, approved])
    const listed = await team.platform.call<LogList>(
      'GET',
      `/api/v1/logs?approvals=true&task_id=${encodeURIComponent(title)}`,
    )
    expect([gatesIn(listed.body.logs), stepsIn(listed.body.logs)]).toEqual([gates, approved])
  })

  it('have the approver whom the gate names, and the digest', async () => {
    await log('named', [start, gate(pay), pay])
    const [, first, second] = (await timeline('named')).steps
    const [digest, by] = [actionDigest(pay as Step), 'carla@example.org']
    const approves = [{ log_id: second?.log_id, step: 3, name: 'pay' }]
    const gate_of = { passed: true, by, action_digest: digest, approves, is_complete: true }
    expect(first?.approval).toEqual({ gate: gate_of, approved_by: [] })
    expect(second?.approval).toEqual({ gate: null, approved_by: [{ log_id: first?.log_id, step: 2, by, timestamp }] })
  })

  it('are absent unless they are asked for', async () => {
    await log('unasked', [start, gate(pay), pay])
    const { steps } = (await team.platform.call<TaskTimeline>('GET', '/api/v1/tasks/unasked/steps')).body
    const { logs } = (await team.platform.call<LogList>('GET', '/api/v1/logs?task_id=unasked')).body
    expect([...steps, ...logs].filter((one) => 'approval' in one)).toEqual([])
  })

  it('are found across the pages of a task, and across its filters', async () => {
    await log('paged', [start, gate(pay), ...Array.from({ length: 60 }, (_, n) => look(n)), pay, end])
    for (const query of ['&around=2', '&kind=gate', '&violating=false&around=2'])
      expect(gatesIn((await timeline('paged', query)).steps)).toEqual(['2>63'])
    const path = '/api/v1/tasks/paged/steps?approvals=true&limit=2&around='
    const near = (await team.platform.call<TaskTimeline>('GET', `${path}63`)).body
    expect(stepsIn(near.steps)).toEqual(['63<2'])
  })

  it('say that not all steps were compared where one is erased', async () => {
    const personal = { ...pay, properties: { 'data.subject_id': 'quinn' } }
    await log('erased', [start, gate(personal), personal])
    const body = { subject_id: 'quinn', legal_basis: 'a test' }
    expect((await team.platform.call('POST', '/api/v1/erasures', { body })).status).toBe(201)
    expect(gatesIn((await timeline('erased')).steps)).toEqual(['2>?'])
  })

  it('say that not all steps were compared where they are too far apart', async () => {
    await log('far', [start, gate(pay), ...Array.from({ length: 260 }, (_, n) => look(n)), pay])
    expect(gatesIn((await timeline('far', '&kind=gate')).steps)).toEqual(['2>?'])
    const path = '/api/v1/logs?approvals=true&step_type=step.gate&q=far'
    expect(gatesIn((await team.platform.call<LogList>('GET', path)).body.logs)).toEqual(['2>?'])
  })

  it('are those of the evaluation where a policy binds some fields of a step', async () => {
    const policy = { name: 'asks', rule_type: 'field_in_list', scope: 'step_execution', severity: 'critical' }
    const params = { field: 'input.to', values: ['landlord'], target_step_names: ['transfer'] }
    const approval = { check_type: 'human_approval', binds: ['step_name', 'input.to'] }
    const made = await team.platform.call<Policy>('POST', '/api/v1/policies', { body: { ...policy, params, approval } })
    expect(made.status).toBe(201)
    const transfer = {
      step_type: 'step.resource',
      verb: 'POST',
      step_name: 'transfer',
      input: { to: 'dora', amount: 1 },
    }
    const digest = fieldsDigest('step.resource', { step_name: 'transfer', 'input.to': 'dora' })
    await log('bound', [start, gateOf(digest), { ...transfer, input: { to: 'dora', amount: 2 } }])
    const found = (await timeline('bound')).steps
    expect([gatesIn(found), stepsIn(found)]).toEqual([['2>3'], ['3<2']])
  })
})

describe('pages of approvals', () => {
  it('link a gate and its step, and say who reports it', async () => {
    await log('shown', [start, gate(pay), pay, gate(other), end])
    const { text } = await team.look('/tasks/shown')
    expect(text).toContain('2 approvals and checks')
    expect(text).toMatch(/Approves<\/bdi> <a href="[^"]*#step-3"><bdi>step 3 \(pay\)/)
    expect(text).toMatch(
      /Approved at<\/bdi> <a href="[^"]*#step-2"><bdi>step 2<\/bdi><\/a> <bdi>by<\/bdi> <bdi>carla@example.org/,
    )
    expect(text).toContain('(reported by the agent)')
    expect(text).toContain('No later step of the task is exactly the action that it names')
    const list = (await team.look('/steps?q=shown')).text
    expect(list).toContain('href="/tasks/shown?around&#x3D;3#step-3"')
    expect(list).toMatch(/Approves|Approved at/)
    expect((await team.look('/tasks/shown', 'stranger')).status).toBe(404)
  })

  it('say of a gate without a digest that it names no step, and of a rejection nothing', async () => {
    await log('plain', [start, gateOf(null), gate(pay, rejected)])
    const { text } = await team.look('/tasks/plain')
    expect(text).toContain('It is not tied to one step: it carries no digest of an action.')
    expect(text).toContain('has not passed')
    expect(text).not.toContain('No later step of the task is exactly the action that it names')
  })
})
