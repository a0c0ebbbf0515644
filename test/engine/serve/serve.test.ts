// The integration pattern: evaluate, record, end_task; and its trace.
import type { EndedTask, EngineHealth, Evaluation, LocalRegistration, RecordedStep } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'

const desk = `
name: Desk
version: "1.0.0"
policies:
  - name: Code runs only after a gate
    rule_type: step_requires_gate
    params: {max_age_steps: 3, target_step_types: [step.exec]}
    severity: critical
    scope: step_execution
  - name: Steps name their agent and time
    rule_type: all_of
    params:
      conditions:
        - {rule_type: field_not_empty, params: {field: agent_id}}
        - {rule_type: field_not_empty, params: {field: timestamp}}
    severity: low
    scope: step_execution
  - name: Only declared tools
    rule_type: any_of
    params:
      conditions:
        - rule_type: not
          params: {condition: {rule_type: field_not_empty, params: {field: agent.declared_tools, target_step_types: [step.resource]}}}
        - {rule_type: step_name_in_allowlist, params: {target_step_types: [step.resource]}}
    severity: critical
    scope: step_execution
  - name: Tasks begin with a start
    rule_type: execution_contains_node_before_current
    params: {required_node_type: START_NODE}
    severity: critical
    scope: task_execution
  - name: Agents have an owner
    rule_type: field_not_empty
    params: {field: owner_id}
    severity: critical
    scope: agent_registration
waivers:
  - policy: Agents have an owner
    agent_key: waived-agent
    reason: for the test
    approved_by: ops
    expires: 2026-01-31
`

const exec = { step_type: 'step.exec', step_name: 'make', input: { target: 'all' } }
const gate = { step_type: 'step.gate', output: { status: 'approved' } }
const contextOf = (task_id: string, more: object = {}) => ({
  agent_id: 'builder',
  task_id,
  environment: 'development',
  risk_classification: 'limited',
  ...more,
})

let serve: Serve
beforeAll(async () => {
  serve = await startServe(['--policy-file', 'desk.yaml'], { 'desk.yaml': desk })
})
afterAll(() => serve.discard())

const evaluate = (intended: object, context: object) =>
  serve.post<Evaluation>('/evaluate', { intended, context }).then(({ status, body }) => {
    expect(status).toBe(200)
    return body
  })
const record = (task_id: string, step: object) =>
  serve.post<RecordedStep>('/record', { step: { task_id, ...step } }).then(({ status, body }) => {
    expect(status).toBe(200)
    return body.step
  })
const endTask = (task_id: string) => serve.post<EndedTask>('/end_task', { task_id })
const violated = ({ policies }: Pick<Evaluation, 'policies'>) =>
  policies.filter((policy) => policy.violated).map(({ name }) => name)
const linesOf = (task_id: string, kind: string) =>
  serve.trace().filter((line) => line.task_id === task_id && line.kind === kind)

describe('evaluate, record, end_task', () => {
  it('blocks code without a gate, names the remedy, and allows the code after it', async () => {
    const context = contextOf('pattern')
    expect(await record('pattern', { agent_id: 'builder', step_type: 'task.start' })).toBe(1)

    const before = await evaluate(exec, context)
    expect(before).toMatchObject({ action: 'block', blocked: true, outcome: 'block', risk_score: 1 })
    expect(violated(before)).toEqual(['Code runs only after a gate'])
    expect(before.policies.map(({ policy_id }) => policy_id)).toEqual([1, 2, 3])
    const details = before.policies[0]?.violation_details
    expect(details?.remedy).toContain('a passed step.gate')
    expect(details?.evidence).toEqual([{ step: null, step_type: 'step.exec', step_name: 'make' }])

    expect(await record('pattern', gate)).toBe(2)
    const after = await evaluate(exec, context)
    expect(after).toMatchObject({ action: 'allow', blocked: false, outcome: 'allow', risk_score: 0 })
    expect(after.action_digest).toBe(before.action_digest)
    expect(await record('pattern', { ...exec, output: { status: 'ok' } })).toBe(3)
    expect(await record('pattern', { step_type: 'task.end' })).toBe(4)
    expect((await endTask('pattern')).body).toEqual({ status: 'ok', task_id: 'pattern', known: true })

    const steps = linesOf('pattern', 'step')
    expect(steps.map(({ step, step_type }) => [step, step_type])).toEqual([
      [1, 'task.start'],
      [2, 'step.gate'],
      [3, 'step.exec'],
      [4, 'task.end'],
    ])
    expect(steps[0]?.meta?.['svc.manifests']).toMatchObject([{ name: 'Desk', path: 'desk.yaml' }])
    // The decision that allowed it, not the older one that blocked the same action.
    expect(steps[2]?.meta?.['svc.eval']).toMatchObject({
      evaluation_id: after.evaluation_id,
      action: 'allow',
      risk_score: 0,
      policies: [
        {
          policy_id: 1,
          name: 'Code runs only after a gate',
          violated: false,
          manifest_id: expect.stringMatching(/^man_/),
        },
        { policy_id: 2, violated: false },
        { policy_id: 3, violated: false },
      ],
    })
    expect(linesOf('pattern', 'incident')).toEqual([])
  })

  it('evaluates without changing anything', async () => {
    const context = contextOf('unchanged')
    await evaluate(gate, context)
    expect((await evaluate(exec, context)).blocked).toBe(true)
    expect(await record('unchanged', gate)).toBe(1)
  })

  it('takes a given step number and counts on from it', async () => {
    expect(await record('numbers', { step_type: 'task.start', step: 7 })).toBe(7)
    expect(await record('numbers', { step_type: 'task.idle' })).toBe(8)
  })

  it('forgets a task that has ended', async () => {
    await record('again', gate)
    await endTask('again')
    const after = await evaluate(exec, contextOf('again'))
    expect(after.blocked).toBe(true)
    expect(after).not.toHaveProperty('history_lost')
    expect((await endTask('never seen')).body).toEqual({ status: 'ok', task_id: 'never seen', known: false })
  })
})

describe('a step and its decision', () => {
  it('are joined by the evaluation named in meta', async () => {
    const context = contextOf('named')
    await record('named', gate)
    const [first, second] = [await evaluate(exec, context), await evaluate(exec, context)]
    await record('named', { ...exec, meta: { evaluation_id: first.evaluation_id } })
    await record('named', exec)
    await endTask('named')
    const joined = linesOf('named', 'step').slice(1)
    expect(joined.map(({ meta }) => meta?.['svc.eval'])).toMatchObject([
      { evaluation_id: first.evaluation_id },
      { evaluation_id: second.evaluation_id },
    ])
  })

  it('are not joined when another step was done than evaluated', async () => {
    const harmless = await evaluate({ step_type: 'step.model', verb: 'POST' }, contextOf('swapped'))
    await record('swapped', { ...exec, meta: { evaluation_id: harmless.evaluation_id } })
    await endTask('swapped')
    const [line] = linesOf('swapped', 'step')
    expect(line?.meta?.['svc.eval']).toMatchObject({ evaluation_id: harmless.evaluation_id, action: 'block' })
    expect(linesOf('swapped', 'incident')[0]).toMatchObject({
      reason: 'executed_although_blocked',
      violation: { name: 'Code runs only after a gate', severity: 'critical' },
    })
  })

  it('make an incident when a blocked step was executed', async () => {
    const { evaluation_id } = await evaluate(exec, contextOf('defiant'))
    await record('defiant', { ...exec, properties: { note: 'altered' }, meta: { evaluation_id } })
    await endTask('defiant')
    expect(linesOf('defiant', 'incident')).toMatchObject([
      { reason: 'executed_although_blocked', agent_id: 'builder', step: 1, violation: { policy_id: 1 } },
      { reason: 'violated', violation: { name: 'Tasks begin with a start' } },
    ])
  })

  it('end the task when the step is recorded as blocked', async () => {
    await record('stopped', { agent_id: 'starter', step_type: 'task.start' })
    await evaluate(exec, contextOf('stopped'))
    expect(await record('stopped', { ...exec, output: { status: 'blocked' } })).toBe(2)
    await endTask('stopped')
    expect(linesOf('stopped', 'step').map(({ step, step_type, agent_id }) => [step, step_type, agent_id])).toEqual([
      [1, 'task.start', 'starter'],
      [2, 'step.exec', 'builder'],
      [3, 'task.error', 'builder'],
      [4, 'task.end', 'builder'],
    ])
    expect(linesOf('stopped', 'incident').map(({ reason }) => reason)).toEqual(['violated'])
  })

  it('cannot be forged in meta', async () => {
    await record('forged', { ...exec, meta: { 'svc.eval': { action: 'allow' }, 'svc.manifests': [], mine: 1 } })
    await endTask('forged')
    const [line] = linesOf('forged', 'step')
    expect(line?.meta).toEqual({
      mine: 1,
      'svc.eval': expect.objectContaining({ action: 'block' }),
      'svc.late': true,
    })
  })
})

describe('task rules', () => {
  it('warn and never block when task.end is evaluated', async () => {
    const end = await evaluate({ step_type: 'task.end' }, contextOf('unstarted'))
    expect(end).toMatchObject({ action: 'allow', blocked: false, outcome: 'warn' })
    expect(violated(end)).toEqual(['Tasks begin with a start'])
    await record('unstarted', { step_type: 'task.end' })
    await endTask('unstarted')
    expect(linesOf('unstarted', 'incident')).toMatchObject([{ reason: 'violated', violation: { policy_id: 4 } }])
  })

  it('run at /end_task when the task has no end', async () => {
    await record('endless', { agent_id: 'builder', step_type: 'task.idle' })
    await endTask('endless')
    expect(linesOf('endless', 'incident')).toMatchObject([
      { reason: 'violated', step: null, violation: { policy_id: 4 } },
    ])
  })
})

describe('the agent', () => {
  const tool = { step_type: 'step.resource', verb: 'GET', step_name: 'search' }

  it('is evaluated at registration with the fields as sent', async () => {
    const { body } = await serve.post<LocalRegistration>('/register_agent', { agent_key: 'ownerless' })
    expect(body).toMatchObject({ agent_id: 'ownerless', blocked: true, action_digest: null })
    expect(violated(body)).toEqual(['Agents have an owner'])
    await endTask('flush')
    expect(serve.trace().filter(({ agent_id, kind }) => agent_id === 'ownerless' && kind === 'incident')).toMatchObject(
      [{ task_id: null, step: null, reason: 'violated' }],
    )
  })

  it('has its registered tools, which the context can narrow', async () => {
    const agent = { agent_key: 'clerk', owner_id: 'me', declared_tools: ['search', { name: 'book' }], team: 'desk' }
    const { body } = await serve.post<LocalRegistration>('/register_agent', agent)
    expect(body.blocked).toBe(false)
    let tasks = 0
    const as = (more: object) => contextOf(`tools ${tasks++}`, { agent_id: 'clerk', ...more })
    expect((await evaluate(tool, as({}))).blocked).toBe(false)
    expect((await evaluate({ ...tool, step_name: 'refund' }, as({}))).blocked).toBe(true)
    expect((await evaluate(tool, as({ declared_tools: ['book'] }))).blocked).toBe(true)
    expect((await evaluate(tool, as({ agent_allowed_tools: ['search'] }))).blocked).toBe(false)
    expect((await evaluate(tool, as({ agent_allowed_tools: ['book'] }))).blocked).toBe(true)
  })

  it('cannot widen its tools by a list that it declares after content of others', async () => {
    await serve.post('/register_agent', { agent_key: 'reader', owner_id: 'me', declared_tools: ['search'] })
    const refund = async (task_id: string) =>
      (
        await evaluate(
          { ...tool, verb: 'POST', step_name: 'refund' },
          contextOf(task_id, { agent_id: 'reader', declared_tools: ['search', 'refund'] }),
        )
      ).blocked
    const read = { ...tool, agent_id: 'reader', task_id: 'read', properties: { content: { trust: 'third_party' } } }
    await serve.post('/record', { step: read })
    expect(await refund('read')).toBe(true)
    expect(await refund('not read')).toBe(false)
  })

  it('has no tools without a registration if it declares its first list after content of others', async () => {
    const isBlocked = async (task_id: string) =>
      (await evaluate(tool, contextOf(task_id, { agent_id: 'unregistered', declared_tools: ['search'] }))).blocked
    const read = (task_id: string) => {
      const properties = { content: { trust: 'public' } }
      return serve.post('/record', { step: { ...tool, agent_id: 'unregistered', task_id, properties } })
    }
    await read('list after content')
    expect(await isBlocked('list after content')).toBe(true)
    expect(await isBlocked('list before content')).toBe(false)
    await read('list before content')
    expect(await isBlocked('list before content')).toBe(false)
  })

  it('has the tools that its task began with, and later contexts only limit them', async () => {
    const as = (declared_tools: string[]) => contextOf('fixed tools', { agent_id: 'other clerk', declared_tools })
    const isBlocked = async (...tools: string[]) => (await evaluate(tool, as(tools))).blocked
    expect(await isBlocked('book', 'search')).toBe(false)
    expect(await isBlocked('book', 'search', 'refund')).toBe(false)
    expect(await isBlocked('book')).toBe(true)
    expect(await isBlocked('book', 'search')).toBe(true)
  })
})

it('reports its health', async () => {
  const { status, body } = await serve.call<EngineHealth>('GET', '/health')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    loaded: true,
    policy_count: 5,
    policies_offered: 5,
    load_state: 'enforcing',
    dropped: [],
    stale: false,
    source: 'file',
    last_fetch_succeeded: true,
  })
})
