// Approvals on the platform, on both databases: hosted evaluation, logs, incidents, policies of a local engine, bundles.
import type {
  EffectivePolicies,
  Evaluation,
  IncidentList,
  LogCheckpoint,
  LogDetail,
  LoggedStep,
  LogList,
  PolicyList,
  RegisteredAgent,
  Verification,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { runSvc } from '../../support/cli/svc.js'
import { startServe } from '../../support/engine/serve.js'
import { approvalCases, approvalManifest, type Entrance, namedStep, play } from '../../support/http/approvals.js'
import { assign } from '../../support/http/assign.js'
import { contentsOf, downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { fast } from '../../support/log/log.js'
import { rejudgedLog } from '../../support/log/rejudge.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

/** Plays a task on the platform, with numbers as an agent counts its steps. */
function entrance(platform: TestPlatform, agent_id: string, task_id: string): Entrance {
  let last = 0
  const log = async (body: object) => {
    const answer = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
    expect([answer.status, answer.body]).toEqual([201, expect.anything()])
    last = answer.body.step
    return answer.body
  }
  return {
    evaluate: (intended) => evaluate(platform, { intended, context: { agent_id, task_id } }),
    send: (gate) => log(gate).then(() => undefined),
    record: async (step) => {
      const timestamp = new Date().toISOString()
      const { log_id, violations } = await log({ ...step, agent_id, task_id, step: last + 1, timestamp })
      const { body } = await platform.call<LogDetail>('GET', `/api/v1/logs/${log_id}`)
      expect(body.violations).toEqual(violations)
      const names = await policyNames(platform, agent_id)
      const approved = (body.evaluation ?? []).flatMap(({ policy_id, approved_by_step }) =>
        approved_by_step == null ? [] : [[names.get(policy_id), approved_by_step] as const],
      )
      return {
        violated: violations.map(({ name }) => name),
        approved: Object.fromEntries(approved),
        asks: violations.filter(({ asks }) => asks).map(({ name }) => name),
      }
    },
    incidents: async () => {
      if (last > 0) {
        const { body } = await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)
        expect([body.integrity, body.sequence.issues.filter(({ code }) => code !== 'no_start')]).toEqual([
          { ok: true, first_bad: null },
          [],
        ])
      }
      const { body } = await platform.call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`)
      return body.incidents.map(({ policy_name }) => policy_name).sort()
    },
  }
}

async function evaluate(platform: TestPlatform, body: object): Promise<Evaluation> {
  const answer = await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as: 'key', body })
  expect([answer.status, answer.body]).toEqual([200, expect.anything()])
  expect(answer.body).not.toHaveProperty('approvals')
  return answer.body
}

async function policyNames(platform: TestPlatform, agent_id: string): Promise<Map<number, string>> {
  const { body } = await platform.call<PolicyList>('GET', `/api/v1/policies?agent_id=${agent_id}&enabled=true`)
  return new Map(body.policies.map(({ id, name }) => [id, name]))
}

describe.each([
  { kind: 'pglite', url: () => null },
  ...(postgres === null ? [] : [{ kind: 'postgresql', url: () => postgres.freshDatabase() }]),
])('on $kind, an approval', ({ url }) => {
  let platform: TestPlatform
  let agent_id: string
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url(), env: fast })
    const register = (agent_key: string) =>
      platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body: { agent_key } })
    agent_id = (await register('desk')).body.agent_id
    await register('plain')
    platform = await assign(platform, agent_id, approvalManifest)
  })
  afterAll(() => discard(platform))

  it.each(approvalCases.map((one, index) => [one.name, index, one] as const))('%s', (_, index, one) =>
    play(one, entrance(platform, agent_id, `case-${index}`)),
  )

  it('is a member of a policy that has one, for operators and for local engines', async () => {
    const { body: list } = await platform.call<PolicyList>('GET', `/api/v1/policies?agent_id=${agent_id}&enabled=true`)
    const { body: effective } = await platform.call<EffectivePolicies>(
      'GET',
      '/api/v1/policies/effective?agent_key=desk',
      { as: 'key' },
    )
    for (const policies of [list.policies, effective.policies])
      expect(policies.map(({ name, approval }) => [name, approval])).toEqual([
        ['Payments are approved', { check_type: 'human_approval' }],
        ['Large payments need a second person', { check_type: 'second_approval', max_age_seconds: 3600 }],
        ['Payments have a reason', undefined],
        ['Mails go to colleagues', { binds: ['step_name', 'input.to'], uses: 3 }],
        ['Mails have a subject', undefined],
      ])
    const plain = await platform.call<EffectivePolicies>('GET', '/api/v1/policies/effective?agent_key=plain', {
      as: 'key',
    })
    // A member with the value null would change the digests of the sets of earlier versions.
    const asking = plain.body.policies.filter((policy) => 'approval' in policy)
    expect(asking.map(({ name }) => name)).toEqual(['Only declared tools', 'Code runs only after a gate'])
  })

  it('changes the entity tag of the policies when it changes', async () => {
    const tag = async (agent_key: string) => {
      const path = `/api/v1/policies/effective?agent_key=${agent_key}`
      return (await platform.call('GET', path, { as: 'key' })).headers.get('etag')
    }
    const before = [await tag('desk'), await tag('plain')]
    const { body } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'other desk' },
    })
    platform = await assign(platform, body.agent_id, approvalManifest.replace('second_approval', 'third_approval'))
    expect([await tag('desk'), await tag('plain')]).toEqual(before)
    const { body: other } = await platform.call<EffectivePolicies>(
      'GET',
      '/api/v1/policies/effective?agent_key=other desk',
      { as: 'key' },
    )
    expect(other.policies[1]?.approval).toEqual({ check_type: 'third_approval', max_age_seconds: 3600 })
  })

  it('is asked for in a body for the log, with the next number of the task', async () => {
    const to = entrance(platform, agent_id, 'bodies')
    await to.record({ step_type: 'task.start' })
    await to.record(namedStep('rent'))
    const { approval_required, action_digest } = await to.evaluate(namedStep('repair'))
    expect(approval_required).toEqual([
      {
        policy_id: expect.any(Number),
        action_digest,
        binds: null,
        unbound: [],
        gate: {
          task_id: 'bodies',
          agent_id,
          step: 3,
          step_type: 'step.gate',
          timestamp: expect.stringMatching(/Z$/),
          input: { action_digest },
          properties: { guard: { check_type: 'human_approval', result: 'passed' } },
        },
      },
    ])
    const untold = await evaluate(platform, { intended: namedStep('repair'), context: { agent_id } })
    expect(untold.approval_required?.[0]?.gate).toMatchObject({ step: 1 })
    expect(untold.approval_required?.[0]?.gate).not.toHaveProperty('task_id')
  })

  it('is counted in the report of an import, for steps that would have needed one', async () => {
    const call = (name: string, args: object) => ({
      type: 'function',
      id: name,
      function: { name: 'pay', arguments: JSON.stringify(args) },
    })
    const payments = [
      { to: 'plumber', amount: 200, reason: 'repair' },
      { to: 'roofer', amount: 50, reason: 'roof' },
      { to: 'stranger', amount: 5 },
    ]
    const tool_calls = payments.map((payment, index) => call(`c${index}`, payment))
    const run = JSON.stringify({ run_id: 'run-1', messages: [{ role: 'assistant', tool_calls }] })
    const args = ['import', 'chat-completions', auditor.put('desk.jsonl', run), '--to', platform.url]
    const tools = ['--tools', auditor.put('tools.yaml', 'pay: {step_type: step.resource, verb: POST}\n')]
    const { code, stdout, stderr } = await runSvc([...args, ...tools], { SVC_API_KEY: platform.api_key })
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(
      '       3  Payments are approved (1 would have been blocked, 2 would have needed an approval)\n' +
        '       1  Payments have a reason (1 would have been blocked)\n',
    )
    const again = await runSvc([...args, ...tools, '--json'], { SVC_API_KEY: platform.api_key })
    expect(JSON.parse(again.stdout)).toMatchObject({
      created: 0,
      would_block: { 'Payments are approved': 1, 'Payments have a reason': 1 },
      would_ask: { 'Payments are approved': 2 },
    })
  })

  it('is asked for by a local engine with these policies, and from its cache while the platform is unavailable', async () => {
    const env = { SVC_API_URL: platform.url, SVC_API_KEY: platform.api_key, SVC_AGENT_KEY: 'desk' }
    let serve = await startServe([], {}, env)
    const outcome = async (load_state: string) => {
      const context = { agent_id: 'desk', task_id: 'local', environment: 'development' }
      const { body } = await serve.post<Evaluation>('/evaluate', { intended: namedStep('roof'), context })
      expect((await serve.call('GET', '/health')).body).toMatchObject({ load_state })
      return [body.outcome, body.approval_required?.map(({ gate }) => Object.keys(gate))]
    }
    try {
      expect(await outcome('enforcing')).toEqual(['ask', [['step'], ['step']]])
      await platform.close()
      serve = await serve.restart()
      expect(await outcome('stale_cache')).toEqual(['ask', [['step'], ['step']]])
    } finally {
      await serve.discard()
      platform = await platform.restart()
    }
  })

  it('is evidence in a bundle that both verifiers accept', async () => {
    const to = entrance(platform, agent_id, 'bundled')
    const { approval_required = [] } = await to.evaluate(namedStep('repair'))
    for (const { gate } of approval_required) await to.send(gate)
    await to.record(namedStep('repair'))
    const { log_index = 0 } = (await platform.call<LogList>('GET', '/api/v1/logs?limit=1')).body.logs[0] ?? {}
    const { key } = await vi.waitFor(async () => {
      const { body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
      expect(body.size).toBeGreaterThan(log_index)
      return body
    }, soon)
    const bundle = await downloadBundle(platform)
    const verdict = await verifyWithBoth(auditor.put('bundle.zip', bundle), `log ${key}\n`, auditor)
    expect(verdict).toMatchObject({ valid: true, findings: [] })
    expect(contentsOf(bundle).get('payloads.jsonl')?.toString()).toContain('"approved_by_step":1,"code":null')
  })

  it('stays readable in the log after a restart, and not after an erasure', async () => {
    const to = entrance(platform, agent_id, 'kept')
    const { approval_required = [] } = await to.evaluate(namedStep('repair'))
    for (const { gate } of approval_required) await to.send(gate)
    platform = await platform.restart()
    const after = entrance(platform, agent_id, 'kept')
    expect((await after.evaluate(namedStep('repair'))).outcome).toBe('allow')
    const { body: logged } = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
      as: 'key',
      body: { ...namedStep('repair'), task_id: 'kept', step: 2, timestamp: new Date().toISOString() },
    })
    const detail = async () => (await platform.call<LogDetail>('GET', `/api/v1/logs/${logged.log_id}`)).body
    const approved = (await detail()).evaluation?.filter(({ approved_by_step }) => approved_by_step === 1)
    expect(approved).toEqual([
      { policy_id: expect.any(Number), version: 1, violated: false, code: null, approved_by_step: 1 },
    ])
    const erasure = { task_id: 'kept', legal_basis: 'Art. 17 GDPR' }
    expect((await platform.call('POST', '/api/v1/erasures', { body: erasure })).status).toBe(201)
    expect((await detail()).evaluation).toBeNull()
    const { body: verdict } = await platform.call<Verification>('GET', '/api/v1/tasks/kept/verify')
    expect(verdict.integrity.ok).toBe(true)
  })

  it('is evaluated again from a bundle with the same verdicts', async () => {
    const { equal, evaluated, others } = await rejudgedLog(platform)
    // The steps whose payloads were erased above.
    expect([equal, others]).toEqual([true, [{ reason: 'payload_erased', steps: 2 }]])
    expect(evaluated).toBeGreaterThan(20)
  })
})
