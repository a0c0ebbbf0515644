// POST /api/v1/policies/dry-run: what a manifest or a policy would have changed in the last recorded tasks.
import { baseline } from '@svc/library'
import { actionDigest } from '@svc/proof'
import type {
  BatchAnswer,
  DryRunReport,
  DryRunRequest,
  JsonMap,
  MadeApiKey,
  Problem,
  RegisteredAgent,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailServer } from '../../support/people/mail.js'
import { signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

const path = '/api/v1/policies/dry-run'
const rule = {
  name: 'Refunds have an amount',
  rule_type: 'field_not_empty',
  params: { field: 'input.amount', target_step_names: ['refund'] },
  scope: 'step_execution',
  severity: 'critical',
}
const manifestOf = (policy: object, more: object = {}) =>
  JSON.stringify({ name: 'Refunds', version: '1', policies: [policy], ...more })
const manifest = manifestOf(rule)
const start = { step_type: 'task.start' }
const end = { step_type: 'task.end' }
const refund = (input: JsonMap) => ({ step_type: 'step.resource', verb: 'POST', step_name: 'refund', input })
const pay = { step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { to: 'landlord', amount: 700 } }

const paymentsAreApproved = {
  ...rule,
  name: 'Payments are approved',
  rule_type: 'field_in_list',
  params: { field: 'input.to', values: ['mia'], target_step_names: ['pay'] },
  approval: { check_type: 'human_approval' },
}
const gateFor = (agent_id: string) => ({
  step_type: 'step.gate',
  input: { action_digest: actionDigest({ ...pay, agent_id } as never) },
  properties: { guard: { result: 'passed', check_type: 'human_approval' } },
})

interface Caller {
  readonly as: string
  readonly platform: TestPlatform
}

const register = async ({ as, platform }: Caller, agent_key: string, more: object = {}) =>
  (await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as, body: { agent_key, ...more } })).body.agent_id

let clock = Date.parse('2026-03-02T09:00:00Z')
async function log({ as, platform }: Caller, agent_id: string, task_id: string, steps: readonly object[], first = 1) {
  const entries = steps.map((step, index) => {
    clock += 1000
    return { agent_id, task_id, step: first + index, timestamp: new Date(clock).toISOString(), ...step }
  })
  const answer = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as, body: { entries } })
  expect([answer.status, answer.body.results.map(({ status }) => status)]).toEqual([200, steps.map(() => 201)])
}

const dryRun = async (platform: TestPlatform, body: DryRunRequest, as = 'operator') => {
  const { status, body: report } = await platform.call<DryRunReport>('POST', path, { as, body })
  expect([status, report]).toEqual([200, expect.anything()])
  return report
}
const places = ({ flips }: DryRunReport) =>
  flips.listed.map(({ task_id, step, before, after }) => [task_id, step, before, after])
const tallyOf = ({ policies }: DryRunReport, name: string) => policies.find((policy) => policy.name === name)

describe('a dry run', () => {
  let platform: TestPlatform
  let desk: string
  let other: string
  beforeAll(async () => {
    platform = await startPlatform()
    const caller = { as: 'key', platform }
    desk = await register(caller, 'desk', { risk_classification: 'minimal' })
    other = await register(caller, 'other')
    await log(caller, desk, 'good', [start, refund({ amount: 5 }), end])
    await log(caller, desk, 'bad', [start, refund({ amount: 5 }), refund({ to: 'mia' }), end])
    await log(caller, other, 'others', [start, refund({ to: 'kim' })])
    await log(caller, desk, 'approved', [start, gateFor(desk), pay, end])
    await log(caller, desk, 'unapproved', [start, pay, end])
  })
  afterAll(() => discard(platform))

  it('names the steps that flip, with the policy, the reason and the remedy', async () => {
    const report = await dryRun(platform, { manifest, file: 'refunds.yaml' })
    expect(report).toMatchObject({
      tasks: 5,
      steps: 16,
      unfinished_tasks: 1,
      flipped_tasks: 2,
      newly_blocked_tasks: 2,
      no_longer_blocked_tasks: 0,
      left_out: [],
    })
    expect(places(report)).toEqual([
      ['others', 2, 'allow', 'block'],
      ['bad', 3, 'allow', 'block'],
    ])
    expect(report.flips).toMatchObject({
      total: 2,
      listed: [
        { agent_id: other },
        {
          agent_id: desk,
          step_type: 'step.resource',
          verb: 'POST',
          step_name: 'refund',
          policies: [{ name: rule.name, side: 'new', effect: 'blocks', manifest: 'refunds.yaml', line: 1 }],
        },
      ],
    })
    expect(report.flips.listed[0]?.policies[0]?.reason).toContain('input.amount')
    expect(tallyOf(report, rule.name)).toMatchObject({ tasks: 5, applicable: 4, passed: 2, violated: 2, blocked: 2 })
    expect(report.policies.length).toBe(report.old_policies.length + 1)
  })

  it('changes nothing under the policies in effect', async () => {
    const report = await dryRun(platform, { manifest: baseline().text })
    expect(report).toMatchObject({ tasks: 5, flipped_tasks: 0, flips: { total: 0 } })
    expect(report.policies.map(({ name }) => name).sort()).toEqual(report.old_policies.map(({ name }) => name).sort())
    expect(report.policies.length).toBeGreaterThan(5)
  })

  it('replaces the manifest of the same name, and a policy of the same name', async () => {
    const renamed = await dryRun(platform, { manifest: manifest.replace('"Refunds"', '"Baseline"') })
    expect(renamed.policies.map(({ name }) => name)).toEqual([rule.name])
    const [{ name = '' } = {}] = (await dryRun(platform, { manifest })).old_policies
    const report = await dryRun(platform, { policy: { ...rule, name } })
    expect(report.policies.filter((policy) => policy.name === name)).toMatchObject([{ blocked: 2, manifest: null }])
    expect(report.policies.length).toBe(report.old_policies.length)
  })

  it('takes a policy, whose flips have no line', async () => {
    const report = await dryRun(platform, { policy: rule })
    expect(places(report).map(([task_id]) => task_id)).toEqual(['others', 'bad'])
    expect(report.flips.listed[0]?.policies).toMatchObject([{ name: rule.name, manifest: null, line: null }])
  })

  it('counts a recorded approval', async () => {
    const asked = await dryRun(platform, { policy: paymentsAreApproved })
    expect(places(asked)).toEqual([['unapproved', 2, 'allow', 'ask']])
    expect(tallyOf(asked, paymentsAreApproved.name)).toMatchObject({ applicable: 2, approved: 1, asked: 1 })
  })

  it('leaves out policies above the risk level of an agent, and honours waivers', async () => {
    const high = manifestOf({ ...rule, risk_classification: 'high' })
    expect(places(await dryRun(platform, { manifest: high })).map(([task_id]) => task_id)).toEqual(['others'])
    const waived = manifestOf(rule, {
      waivers: [{ policy: rule.name, agent_key: 'other', reason: 'x', approved_by: 'Mia', expires: '2030-01-01' }],
    })
    expect(places(await dryRun(platform, { manifest: waived })).map(([task_id]) => task_id)).toContain('bad')
    expect(places(await dryRun(platform, { manifest: waived }))).not.toContainEqual(['others', 2, 'allow', 'block'])
  })

  it('takes the tasks of one agent, and the latest ones', async () => {
    const report = await dryRun(platform, { manifest, agent_id: desk })
    expect([report.tasks, places(report)]).toEqual([4, [['bad', 3, 'allow', 'block']]])
    expect((await dryRun(platform, { manifest, tasks: 2 })).tasks).toBe(2)
    expect(places(await dryRun(platform, { manifest, tasks: 3 }))).toEqual([['others', 2, 'allow', 'block']])
    const { status, body } = await platform.call<Problem>('POST', path, { body: { manifest, agent_id: 'ag_none' } })
    expect([status, body.code]).toEqual([404, 'NOT_FOUND'])
  })

  it('returns the warnings about a manifest', async () => {
    const unquoted = manifest.replace('"version":"1"', '"version":1.10')
    expect((await dryRun(platform, { manifest: unquoted })).findings).toMatchObject([{ id: 'unquoted-version' }])
  })

  it.each([
    [{ manifest: manifest.replace('field_not_empty', 'field_not_emty') }, 'manifest', 'unknown-rule', 1],
    [{ manifest: 'policies: [' }, 'manifest', 'yaml-bracket', 1],
    [{ policy: { ...rule, rule_type: 'field_not_emty' } }, 'policy.rule_type', 'unknown-rule', undefined],
    [{ policy: {} }, 'policy', 'missing-key', undefined],
    [{ policy: { ...rule, params: { field: 3 } } }, 'policy.params.field', 'wrong-type', undefined],
  ])('rejects %j with its findings', async (body, field, id, line) => {
    const { status, body: problem } = await platform.call<Problem>('POST', path, { body })
    expect([status, problem.code]).toEqual([422, 'INVALID'])
    expect(problem.errors[0]).toMatchObject({ path: expect.stringMatching(`^${field}`), id, ...(line && { line }) })
    expect(JSON.stringify(problem)).not.toContain('policies[0]`')
  })

  it.each([{}, { manifest, policy: rule }, { manifest, tasks: 0 }, { manifest, tasks: 10_001 }, { manifest, days: 3 }])(
    'rejects %j',
    async (body) => {
      expect((await platform.call('POST', path, { body })).status).toBe(422)
    },
  )
})

describe('a dry run of several manifests', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform()
    const caller = { as: 'key', platform }
    const desk = await register(caller, 'desk')
    await log(caller, desk, 'bad', [start, refund({ to: 'mia' }), end])
    await log(caller, desk, 'unapproved', [start, pay, end])
  })
  afterAll(() => discard(platform))
  const payments = { manifest: manifestOf(paymentsAreApproved, { name: 'Payments' }), file: 'payments.yaml' }
  const refunds = { manifest, file: 'refunds.yaml' }

  it('puts all of them in place, and counts the tasks that would now wait for a person', async () => {
    const report = await dryRun(platform, { manifests: [refunds, payments] })
    expect(report).toMatchObject({ newly_blocked_tasks: 1, newly_asked_tasks: 1, no_longer_blocked_tasks: 0 })
    expect(report.flips.listed.map(({ policies: [cause] }) => cause?.manifest).sort()).toEqual([
      'payments.yaml',
      'refunds.yaml',
    ])
  })

  it('compares with other manifests in place of those in effect', async () => {
    const against = await dryRun(platform, { manifests: [refunds, payments], against: [refunds] })
    expect(places(against)).toEqual([['unapproved', 2, 'allow', 'ask']])
    const looser = await dryRun(platform, { manifest, against: [refunds, payments] })
    expect(looser).toMatchObject({ newly_blocked_tasks: 0, no_longer_blocked_tasks: 0, flipped_tasks: 1 })
    expect(places(looser)).toEqual([['unapproved', 2, 'ask', 'allow']])
  })

  it.each([
    [{ manifest, manifests: [refunds] }, 'manifest'],
    [{ manifests: [] }, 'manifests'],
    [{ policy: rule, against: [refunds] }, 'against'],
    [{ manifests: [refunds, { ...payments, manifest: 'policies: [' }] }, 'manifests[1].manifest'],
    [{ manifest, against: [{ ...payments, manifest: 'policies: [' }] }, 'against[0].manifest'],
  ])('rejects %j', async (body, field) => {
    const { status, body: problem } = await platform.call<Problem>('POST', path, { body })
    expect([status, problem.errors[0]?.path]).toEqual([422, field])
  })
})

describe('a dry run of a period', () => {
  let platform: TestPlatform
  let desk: string
  let other: string
  let now = Date.parse('2026-03-02T10:00:00Z')
  const task = [start, refund({ to: 'mia' }), end]
  const dayOf = { from: '2026-03-03T00:00:00Z', to: '2026-03-04T00:00:00Z' }
  beforeAll(async () => {
    platform = await startPlatform({ clock: () => now })
    const caller = { as: 'key', platform }
    desk = await register(caller, 'desk')
    other = await register(caller, 'other')
    await log(caller, desk, 'before', task)
    await log(caller, desk, 'across', task.slice(0, 2))
    now += 86_400_000
    await log(caller, desk, 'across', task.slice(2), 3)
    await log(caller, other, 'others', task)
    for (let index = 0; index < 210; index++) await log(caller, desk, `t-${index}`, task)
    now += 86_400_000
    await log(caller, desk, 'after', task)
  })
  afterAll(() => discard(platform))

  it('takes all tasks with a step of the period, each whole, and more than 200', async () => {
    const report = await dryRun(platform, { manifest, ...dayOf })
    expect(report).toMatchObject({ tasks: 212, steps: 636, newly_blocked_tasks: 212, left_out: [] })
    expect((await dryRun(platform, { manifest, from: dayOf.to })).tasks).toBe(1)
    expect((await dryRun(platform, { manifest, to: dayOf.from })).tasks).toBe(2)
    expect((await dryRun(platform, { manifest, ...dayOf, agent_id: other })).tasks).toBe(1)
    const policy = { ...rule, agent_id: null, ...dayOf }
    expect((await dryRun(platform, policy as unknown as DryRunRequest)).tasks).toBe(212)
  })

  it('states how many tasks of the period it left out', async () => {
    const report = await dryRun(platform, { manifest, ...dayOf, tasks: 205 })
    expect([report.tasks, report.left_out]).toEqual([205, [{ reason: 'too_many', tasks: 7 }]])
    expect((await dryRun(platform, { manifest, tasks: 205 })).left_out).toEqual([])
  })

  it.each([
    [{ from: dayOf.to, to: dayOf.from }, 'to'],
    [{ from: 'yesterday' }, 'from'],
    [{ to: '2026-03-04' }, 'to'],
  ])('rejects %j', async (period, field) => {
    const { status, body } = await platform.call<Problem>('POST', path, { body: { manifest, ...period } })
    expect([status, body.errors[0]?.path]).toEqual([422, field])
  })
})

describe.skipIf(postgres === null)('the tasks of a dry run', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let platform: TestPlatform
  let agent_id: string
  let caller: Caller
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: { SVC_CHECKPOINT_SECONDS: '0' } })
    caller = { as: 'key', platform }
    agent_id = await register(caller, 'desk')
  })
  afterAll(() => discard(platform))

  it('are left out with a reason where they cannot be replayed whole', async () => {
    const task = [start, refund({ to: 'mia' }), end]
    for (const task_id of ['whole', 'erased', 'pruned', 'large', 'huge']) await log(caller, agent_id, task_id, task)
    const bare = { ...refund({}), input: undefined }
    await log(caller, agent_id, 'bare', [start, { ...bare, output: { status: 'blocked' } }, bare, end])
    await log(caller, agent_id, 'begun', [start])
    await platform.call('POST', '/api/v1/erasures', { body: { task_id: 'erased', legal_basis: 'GDPR Art. 17' } })
    const at = (task_id: string) => `log_index in (select log_index from log_entries where task_id = '${task_id}')`
    sql("begin; set local app.pruning = 'on'; delete from log_entries where task_id = 'pruned' and seq = 1; commit")
    sql("update task_heads set seq = 10001 where task_id = 'large'")
    sql(`update log_payloads set body = '{"input":"' || repeat('x', 4000000) || '"}' where ${at('huge')}`)
    const { left_out, tasks, flips } = await dryRun(platform, { manifest })
    const byReason = left_out.sort((a, b) => (a.reason < b.reason ? -1 : 1))
    expect(byReason).toEqual([
      { reason: 'metadata_only', tasks: 1 },
      { reason: 'payload_erased', tasks: 1 },
      { reason: 'pruned', tasks: 1 },
      { reason: 'too_long', tasks: 2 },
    ])
    expect([tasks, flips.listed.map(({ task_id }) => task_id)]).toEqual([2, ['whole']])
  })

  it('are one for each id, also when it continues after an end', async () => {
    await log(caller, agent_id, 'twice', [start, refund({ amount: 1 }), end])
    await log(caller, agent_id, 'twice', [start, refund({})], 4)
    const { tasks, flips } = await dryRun(platform, { manifest, tasks: 1 })
    expect(tasks).toBe(1)
    expect(flips.listed).toMatchObject([{ task_id: 'twice', step: 5 }])
  })

  it('happen at the times that the log gave them, which never decrease', async () => {
    const [early, later] = [{ timestamp: '2026-03-02T07:00:00Z' }, { timestamp: '2026-03-02T08:00:00Z' }]
    await log(caller, agent_id, 'backwards', [start, end])
    const steps = [start, gateFor(agent_id)].map((step) => ({ ...step, ...early }))
    await log(caller, agent_id, 'backwards', [...steps, { ...pay, ...later }], 3)
    const policy = { ...paymentsAreApproved, approval: { check_type: 'human_approval', max_age_seconds: 60 } }
    const report = await dryRun(platform, { policy, tasks: 1 })
    expect(tallyOf(report, policy.name)).toMatchObject({ applicable: 1, approved: 1 })
  })

  it('are fewer where many policies evaluate each step', async () => {
    const policies = Array.from({ length: 1000 }, (_, index) => ({ ...rule, name: `P${index}` }))
    const many = JSON.stringify({ name: 'Many', version: '1', policies })
    await log(caller, agent_id, 'long', [start, ...Array.from({ length: 900 }, () => refund({ amount: 1 }))])
    await log(caller, agent_id, 'longer', [start, ...Array.from({ length: 990 }, () => refund({ amount: 1 }))])
    const { left_out, tasks } = await dryRun(platform, { manifest: many, tasks: 2 })
    expect([left_out, tasks]).toEqual([[], 2])
    await log(caller, agent_id, 'longest', [start, ...Array.from({ length: 990 }, () => refund({ amount: 1 }))])
    const report = await dryRun(platform, { manifest: many, tasks: 3 })
    expect([report.left_out, report.tasks]).toEqual([[{ reason: 'too_many', tasks: 1 }], 2])
  })

  it('change nothing in the database', async () => {
    const counted = () =>
      sql(
        `select string_agg(relname || ' ' || (xpath('/row/c/text()', query_to_xml('select count(*) as c from ' ||
          quote_ident(relname), false, true, '')))[1]::text, ',' order by relname)
         from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relname <> 'attempts'`,
      )
    const before = counted()
    await dryRun(platform, { manifest })
    expect(counted()).toBe(before)
  })

  it('are those of the workspace', async () => {
    const mails = await startMailServer()
    const both = await startPlatform({ database_url: url, env: { SVC_SMTP_URL: mails.url } })
    try {
      const person = await signedIn(both, mails, 'mia@example.org')
      const { key } = (await person.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'mine' })).body
      const mine = { as: key, platform: both }
      const own = await register(mine, 'desk')
      await log(mine, own, 'mine', [start, refund({}), end])
      const report = await dryRun(both, { manifest }, person.token)
      expect([report.tasks, places(report)]).toEqual([1, [['mine', 2, 'allow', 'block']]])
      const foreign = await both.call('POST', path, { as: person.token, body: { manifest, agent_id } })
      expect(foreign.status).toBe(404)
      expect((await both.call('POST', path, { as: key, body: { manifest } })).status).toBe(403)
    } finally {
      await both.close()
      await mails.close()
    }
  })
})
