// `svc agents`, `svc agent`, `svc tasks` and `svc task` as a member uses them: what governs an agent, and what a task did.
import type { Agent, AgentList, TaskList } from '@svc/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LoggedIn, openLoggedIn } from '../support/people/logged-in.js'

let member: LoggedIn
let desk: Agent
beforeAll(async () => {
  member = await openLoggedIn()
  const { platform, key: as } = member
  for (const agent_key of ['desk', 'night'])
    await platform.call('POST', '/api/v1/agents', { as, body: { agent_key, owner_id: 'o', purpose: 'p' } })
  const log = async (task_id: string, step: number, step_type: string, more: object = {}) => {
    const body = { task_id, step, step_type, timestamp: `2026-01-05T09:00:0${step}Z`, agent_key: 'desk', ...more }
    expect((await platform.call('POST', '/api/v1/logs', { as, body })).status).toBe(201)
  }
  await log('t-1', 1, 'task.start')
  await log('t-1', 2, 'step.exec', { step_name: 'make\u001b[31m' })
  await log('t-1', 3, 'step.resource', { verb: 'POST', step_name: 'pay', output: { status: 'blocked' } })
  await log('t-1', 4, 'task.error')
  await log('t-2', 1, 'task.start', { agent_key: 'night' })
  const { agents } = JSON.parse(await svc('agents', '--json')) as AgentList
  desk = agents.find(({ agent_key }) => agent_key === 'desk') as Agent
  const policy = {
    name: 'Refunds are small',
    rule_type: 'field_in_range',
    params: { field: 'input.amount', max: 50, target_step_names: ['refund'] },
    scope: 'step_execution',
    severity: 'critical',
    agent_id: desk.agent_id,
  }
  const others = { ...policy, name: 'Only of high agents', agent_id: null, risk_classification: 'high' }
  for (const body of [policy, others]) {
    const made = await member.platform.call('POST', '/api/v1/policies', { as: member.token, body })
    expect(made.status).toBe(201)
  }
})
afterAll(() => member.close())

const svc = (...args: string[]) => member.svc(...args)

it('agents are listed, and one is shown with the policies in force, their values, version and author', async () => {
  expect(await svc('agents')).toMatch(/^KEY .* ID\ndesk +desk +unclassified +development +active +ag_\S+\nnight .*\n$/)
  expect(await svc('agents', '--environment', 'production')).toMatch(/^no agent matches/)
  const shown = await svc('agent', 'show', 'desk')
  expect(shown).toMatch(
    /^agent +desk\nid +ag_[0-9a-f]{32}\nowner +o\npurpose +p\nenvironment +development\nlevel +unclassified\n/,
  )
  expect(shown).toMatch(
    /\nstate +active\nengine +none has reported\nincidents +\d+ open or active: `npx --no-install svc incidents --agent desk`\n/,
  )
  expect(shown).toMatch(
    /\n16 policies are in force\n\n\S*agentic-baseline\.yaml of the baseline: assignment \d+, synced\n {4}version [0-9a-f]{10}, no commit\n {4}in force since \S+Z, by \S+\n {4}assigned at \S+Z, by \S+\n/,
  )
  expect(shown).toMatch(
    /\nwritten by hand\n {2}critical {2}Refunds are small\n {6}field_in_range (?=.*field: input\.amount)(?=.*max: 50).*target_step_names: \[refund\]\n$/,
  )
  expect(shown).not.toContain('Only of high agents')
  expect(JSON.parse(await svc('agent', 'show', desk.agent_id, '--json'))).toMatchObject({
    agent: { agent_key: 'desk' },
    assignments: [{ status: 'synced' }],
    stops: [],
    engines: [],
  })
})

it('a stop of the agent or of the workspace is shown', async () => {
  await svc('stop', '--agent', 'night', '--reason', 'wrong accounts')
  expect(await svc('agent', 'show', 'night')).toMatch(/\nstop +stp_\S+, since \S+Z by \S+: wrong accounts\n/)
  expect(await svc('agent', 'show', 'desk')).not.toContain('stp_')
})

it('tasks are listed, and one is shown step by step', async () => {
  expect(await svc('tasks', '--agent', 'desk')).toMatch(
    /^TASK +AGENT +STATUS +STEPS +FIRST STEP +LAST STEP\nt-1 +desk +error +4 +2026-01-05T09:00Z +2026-01-05T09:00Z\n$/,
  )
  expect(await svc('tasks', '--limit', '1')).toMatch(/\n1 more: add `--limit 2`\n$/)
  const { tasks } = JSON.parse(await svc('tasks', '--status', 'running', '--json')) as TaskList
  expect(tasks.map(({ task_id }) => task_id)).toEqual(['t-2'])
  const shown = await svc('task', 'show', 't-1')
  expect(shown).toMatch(
    /^task +t-1\nagent +desk\nstatus +error\nsteps +4\nrecord +whole\nincidents +\d+\n\nSTEP +TIME +TYPE +VERB +NAME +RESULT\n/,
  )
  expect(shown).toMatch(
    /\n2 +2026-01-05T09:00:02 +step\.exec +make\ufffd\[31m\n {4}critical incident, open: Code runs only after a gate: [^(]*\(inc_/,
  )
  expect(shown).toMatch(/\n3 +2026-01-05T09:00:03 +step\.resource +POST +pay +blocked\n/)
  expect(JSON.parse(await svc('task', 'show', 't-1', '--json'))).toMatchObject({
    status: 'error',
    verification: { valid: true },
  })
})

it('incidents have the key of their agent, and policies in force come without the others', async () => {
  expect(await svc('incidents', '--agent', 'night')).toBe('no incident matches\n')
  expect(await svc('incidents', '--agent', 'desk')).toMatch(
    / LAST SEEN +AGENT +TASK +POLICY\n(inc_\S+ .* desk +t-1 .*\n|inc_\S+ .* desk +\S.*\n)+$/,
  )
  const [policy] = (JSON.parse(await svc('policies', '--agent', 'desk', '--json')) as { policies: { id: number }[] })
    .policies
  const disabled = await member.platform.call('POST', `/api/v1/policies/${policy?.id}/disable`, {
    as: member.token,
    body: {},
  })
  expect(disabled.status).toBe(200)
  const row = new RegExp(`^${policy?.id} +\\S+ +disabled +desk `, 'm')
  expect(await svc('policies')).not.toMatch(row)
  expect(await svc('policies', '--all')).toMatch(row)
  expect(await svc('policies')).toMatch(/^ID +SEVERITY +MODE +AGENT +FROM +NAME\n/)
})

it.each([
  [['agent', 'show', 'dusk'], /^1 svc: no agent of .* has the id or key `dusk`: .*`desk`/],
  [['agent', 'stop', 'desk'], /^2 error: .*Allowed choices are show/],
  [['task', 'show', 't-9'], /^1 svc: no task of .* has the id `t-9`: `npx --no-install svc tasks` lists them/],
  [['tasks', '--limit', '0'], /^2 svc: `--limit` is `0`: write a whole number from 1 to 99999/],
  [['tasks', '--from', 'yesterday'], /^1 svc: `--from` is `yesterday`: write a day/],
])('%j is rejected', async (args, says) => {
  expect(await svc(...args)).toMatch(says)
})

it.each(['agents', 'agent', 'tasks', 'task', 'policies'])(
  '%s has a help with an example and exit codes',
  async (name) => {
    expect(await svc(name, '--help')).toMatch(
      /Examples?:\n {2}npx --no-install svc [\s\S]*Exit codes: 0 done, 1 not possible, 2 usage/,
    )
  },
)
