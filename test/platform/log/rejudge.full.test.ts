// The log of a platform evaluated again: late and repeated steps, restarts, agents that change, periods, erasure.
import type { LoggedStep, RegisteredAgent, RejudgeVerdict } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assign } from '../../support/http/assign.js'
import { fast } from '../../support/log/log.js'
import { expectEqualVerdicts, rejudgedLog } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { databaseHere } from '../../support/server/postgres.js'

const { kind, database_url } = await databaseHere()
const day = 86_400_000
const begin = Date.parse('2026-03-02T09:00:00Z')

/** Policies of several kinds: observed, waived for a day, on the whole task, on the agent. */
const manifest = `name: Desk
version: '1'
policies:
  - name: two refunds
    rule_type: execution_max_steps
    params: {step_type: {step_names: [refund]}, max_steps: 2}
    scope: step_execution
    severity: high
  - name: observed
    rule_type: field_not_empty
    params: {field: input.reason, target_step_names: [refund]}
    scope: step_execution
    severity: critical
    mode: observe
  - name: not for high risk
    rule_type: step_forbidden_for_classification
    params: {forbidden_step_type: step.resource, agent_risk_classifications: [high]}
    scope: step_execution
    severity: critical
  - name: a model thinks first
    rule_type: execution_requires_node_sequence
    params: {required_sequence: [step.model, step.resource]}
    scope: task_execution
    severity: medium
  - name: declared tools only
    rule_type: step_name_in_allowlist
    params: {agent_field: declared_tools, target_step_types: [step.resource]}
    scope: step_execution
    severity: medium
`

describe(`a log on ${kind}`, () => {
  let now = begin
  let platform: TestPlatform
  let agent_id: string
  const register = async (more: object) => {
    const body = { agent_key: 'desk', declared_tools: ['refund'], region: 'eu', ...more }
    return (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })).body.agent_id
  }
  const log = async (task_id: string, step: number, more: object, expected = 201) => {
    const timestamp = new Date(now - (now % 60_000) + step * 1000).toISOString()
    const body = { agent_id, task_id, step, timestamp, step_type: 'step.resource', step_name: 'refund', ...more }
    const answer = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
    expect([answer.status, answer.body]).toEqual([expected, expect.anything()])
    return answer.body.violations.map(({ name }) => name)
  }
  beforeAll(async () => {
    platform = await startPlatform({ database_url, env: fast, clock: () => now++ })
    agent_id = await register({})
    platform = await assign(platform, agent_id, manifest)
  })
  afterAll(() => discard(platform))

  it('with late, repeated and blocked steps, and steps after the end, has the recorded verdicts', async () => {
    await log('odd', 1, { step_type: 'task.start', step_name: 'begin' })
    await log('odd', 4, { input: { reason: 'late' } })
    await log('odd', 2, { step_type: 'step.model', step_name: 'model' })
    await log('odd', 4, { input: { reason: 'other content' } })
    await log('odd', 4, { input: { reason: 'other content' } }, 200)
    await log('odd', 5, { output: { status: 'blocked' } })
    expect(await log('odd', 6, {})).toEqual(['two refunds', 'observed'])
    await log('odd', 7, { step_type: 'task.end', step_name: 'end' })
    await log('odd', 8, { step_name: 'undeclared' })
    await log('odd', 9, { step_type: 'task.end', step_name: 'end' })
    await log('unsorted', 1, { timestamp: '1999-01-01T00:00:00Z', step_type: 'TOOL_CALL' })
    await log('unsorted', 2, { timestamp: '2026-03-02T23:59:60+14:00', step_type: 'TASK_START' })
    await expectEqualVerdicts(platform)
  })

  it('over restarts and changes of its agent has the recorded verdicts', async () => {
    await log('changing', 1, { input: { reason: 'r' } })
    platform = await platform.restart()
    await platform.call('PATCH', `/api/v1/agents/${agent_id}`, { body: { risk_classification: 'high' } })
    expect(await log('changing', 2, { input: { reason: 'r' } })).toEqual(['not for high risk'])
    await platform.call('PATCH', `/api/v1/agents/${agent_id}`, {
      body: { risk_classification: 'limited', declared_tools: [] },
    })
    expect(await log('changing', 3, { input: { reason: 'r' } })).toEqual(['two refunds', 'declared tools only'])
    await platform.call('DELETE', `/api/v1/agents/${agent_id}`)
    await platform.call('POST', `/api/v1/agents/${agent_id}/reactivate`)
    await platform.call('PATCH', `/api/v1/agents/${agent_id}`, {
      body: { declared_tools: null, risk_classification: null },
    })
    expect(await log('changing', 4, { input: { reason: 'r' } })).toEqual(['two refunds'])
    await expectEqualVerdicts(platform)
  })

  it('is evaluated again for a period, with the agent as it was registered before', async () => {
    await log('over midnight', 1, {})
    now = begin + day
    await log('over midnight', 2, {})
    await log('next day', 1, {})
    await log('next day', 2, { input: { reason: 'r' } })
    const { equal, steps, evaluated, others }: RejudgeVerdict = await rejudgedLog(
      platform,
      '?from=2026-03-03T00:00:00Z',
    )
    expect({ equal, steps, evaluated, others }).toEqual({
      equal: true,
      steps: 3,
      evaluated: 2,
      others: [{ reason: 'task_began_earlier', steps: 1 }],
    })
  })

  it('counts what was erased, and what was deleted after its retention', async () => {
    const body = { task_id: 'next day', legal_basis: 'GDPR Art. 17(1)(b)' }
    expect((await platform.call('POST', '/api/v1/erasures', { body })).status).toBe(201)
    const verdict = await rejudgedLog(platform)
    expect([verdict.equal, verdict.others]).toEqual([true, [{ reason: 'payload_erased', steps: 2 }]])
    now = begin + 400 * day
    await log('a year later', 1, {})
    await rejudgedLog(platform)
    expect((await platform.call('POST', '/api/v1/retention/prune')).status).toBe(200)
    await log('a year later', 2, {})
    const later = await rejudgedLog(platform)
    expect(later).toMatchObject({ equal: true, evaluated: 2 })
    expect(later.others.map(({ reason }) => reason)).toEqual(['record_pruned'])
  })
})
