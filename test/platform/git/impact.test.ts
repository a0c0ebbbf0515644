// What a change of manifests would do to agents and to their recorded tasks.
import { createReplay, type Flip, type ReplayManifest, samePolicies } from '@svc/engine/parts'
import { type ImpactReport, impactOf, type Reading } from '@svc/platform'
import type { BatchAnswer, JsonMap, MadeApiKey, MadeAssignment, PolicyList, RegisteredAgent, Step } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ImpactOn, nextManifest, openImpact } from '../../support/engine/impact.js'
import {
  type ManifestsInGit,
  openManifestsInGit,
  refunds,
  type WrittenPolicy,
} from '../../support/git/manifests-in-git.js'
import { startMailServer } from '../../support/people/mail.js'
import { signedIn } from '../../support/people/people.js'
import { discard, startPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

const amounts = { name: 'Refunds have an amount', severity: 'critical' }
const reasons = { name: 'Refunds have a reason', params: { field: 'input.reason', target_step_names: ['refund'] } }
const blocking = { ...reasons, severity: 'critical' }
const asking = { ...blocking, approval: { check_type: 'human_approval' } }
const start = { step_type: 'task.start' }
const end = { step_type: 'task.end' }
const refund = (input: JsonMap) => ({ step_type: 'step.resource', verb: 'POST', step_name: 'refund', input })

describe.skipIf(postgres === null)('the impact of a change', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let git: ManifestsInGit
  let on: ImpactOn
  let count = 0
  let clock = Date.now() - 86_400_000
  beforeAll(async () => {
    git = await openManifestsInGit({ database_url: url, env: { SVC_CHECKPOINT_SECONDS: '0' } })
    on = await openImpact(git.platform, sql('select org_id from org_log'))
  })
  afterAll(async () => {
    await on.close()
    await git.close()
  })

  async function log(agent_id: string, steps: readonly object[], more: { task_id?: string; as?: string } = {}) {
    count += 1
    const { task_id = `task-${count}`, as = 'key' } = more
    const entries = steps.map((step, index) => {
      clock += 1000
      return { agent_id, task_id, step: index + 1, timestamp: new Date(clock).toISOString(), ...step }
    })
    const answer = await git.platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', { as, body: { entries } })
    expect([answer.status, answer.body.results.map(({ status }) => status)]).toEqual([200, steps.map(() => 201)])
    return { task_id, entries: entries as unknown as Step[] }
  }

  /** An agent with these policies at `refunds.yaml`, and the request of a change to others. */
  async function prepared(before: readonly WrittenPolicy[], agent: object = {}) {
    const { id } = await git.connect({ 'refunds.yaml': refunds(before) })
    const registered = await git.register(agent)
    const { body } = await git.assign(registered.agent_id, id)
    return { repo_id: id, assignment: body as MadeAssignment, ...registered }
  }
  const to = (after: readonly WrittenPolicy[] | null, waivers: readonly object[] = [], path = 'refunds.yaml') => {
    const next: ReplayManifest | null = after && nextManifest(refunds(after, waivers), path)
    return { manifest_path: path, next }
  }
  const placesOf = (listed: readonly { readonly flip: Flip }[]) =>
    listed.map(({ flip: { task_id, step, before, after } }) => [task_id, step, before, after])

  it('names the first flip of each task, with the policy and its line', async () => {
    const { agent_id, agent_key, repo_id } = await prepared([amounts])
    const worse = await log(agent_id, [start, refund({ amount: 1 }), refund({ amount: 1 }), end])
    await log(agent_id, [start, refund({ amount: 1, reason: 'late' }), end])
    const better = await log(agent_id, [start, refund({ reason: 'late' }), end])
    const both = await log(agent_id, [start, refund({}), end])
    const report = await on.impact({ repo_id, changes: [to([blocking])] })
    expect(report).toMatchObject({
      pinned_agents: [],
      recorded_tasks: 4,
      sampled_tasks: 4,
      tasks: 4,
      steps: 13,
      left_out: [],
      newly_blocked_tasks: 1,
      newly_asked_tasks: 0,
      no_longer_blocked_tasks: 1,
    })
    const [row] = report.agents
    expect(row).toMatchObject({ agent_id, agent_key, manifest_paths: ['refunds.yaml'], tasks: 4 })
    expect(row).toMatchObject({ newly_blocked_tasks: 1, no_longer_blocked_tasks: 1, newly_asked_tasks: 0 })
    expect([row?.policies_before, row?.policies_after]).toEqual([row?.policies_after, row?.policies_before])
    expect(report.first_flips.total).toBe(2)
    expect(placesOf(report.first_flips.listed)).toEqual([
      [worse.task_id, 2, 'allow', 'block'],
      [better.task_id, 2, 'block', 'allow'],
    ])
    expect(report.first_flips.listed.map(({ change }) => change)).toEqual(['newly_blocked', 'no_longer_blocked'])
    expect(report.first_flips.listed.map(({ flip }) => flip.policies)).toMatchObject([
      [{ name: reasons.name, side: 'new', manifest: 'refunds.yaml', line: 1 }],
      [{ name: amounts.name, side: 'old', manifest: 'refunds.yaml', line: 1 }],
    ])
    expect(JSON.stringify(report)).not.toContain(both.task_id)
    const asked = await on.impact({ repo_id, changes: [to([amounts, asking])] })
    expect([asked.newly_blocked_tasks, asked.newly_asked_tasks]).toEqual([0, 1])
  })

  it('says which agents lose their policies when a manifest is deleted', async () => {
    const { agent_id, repo_id } = await prepared([amounts])
    await log(agent_id, [start, refund({}), end])
    const baseline = sql(`select id from assignments where agent_id = '${agent_id}' and repo_id is null`)
    await git.platform.call('DELETE', `/api/v1/assignments/${baseline}`)
    const report = await on.impact({ repo_id, changes: [to(null)] })
    expect(report.agents).toMatchObject([{ policies_before: 1, policies_after: 0, no_longer_blocked_tasks: 1 }])
  })

  it('leaves out assignments that are pinned', async () => {
    const { agent_id, agent_key, repo_id, assignment } = await prepared([amounts])
    const { body } = await git.change(assignment.id, 'pin', {})
    await log(agent_id, [start, refund({}), end])
    const report = await on.impact({ repo_id, changes: [to(null)] })
    const { pinned_sha } = body
    const pinned = { agent_id, agent_key, manifest_path: 'refunds.yaml', pinned_sha }
    expect(report).toMatchObject({ agents: [], pinned_agents: [pinned], recorded_tasks: 0, tasks: 0 })
  })

  it('puts several changed manifests on one agent', async () => {
    const { id: repo_id } = await git.connect({ 'a.yaml': refunds([amounts]), 'b.yaml': refunds([reasons]) })
    const { agent_id } = await git.register()
    for (const manifest_path of ['a.yaml', 'b.yaml']) await git.assign(agent_id, repo_id, { manifest_path })
    await log(agent_id, [start, refund({}), end])
    const changes = [to(null, [], 'a.yaml'), to([blocking], [], 'b.yaml')]
    const report = await on.impact({ repo_id, changes })
    expect(report.agents).toMatchObject([{ manifest_paths: ['a.yaml', 'b.yaml'] }])
    expect([report.newly_blocked_tasks, report.first_flips.total]).toEqual([0, 0])
    const one = await on.impact({ repo_id, changes: [to(null, [], 'a.yaml')] })
    expect(one.agents).toMatchObject([{ manifest_paths: ['a.yaml'], no_longer_blocked_tasks: 1 }])
  })

  it('knows the risk level of each agent, and its waivers', async () => {
    const { agent_id: minimal, repo_id } = await prepared([amounts], { risk_classification: 'minimal' })
    const waived = await git.register()
    const plain = await git.register()
    for (const { agent_id } of [waived, plain]) await git.assign(agent_id, repo_id)
    for (const agent_id of [minimal, waived.agent_id, plain.agent_id])
      await log(agent_id, [start, refund({ amount: 1 }), end])
    const waivers = [
      { policy: reasons.name, agent_key: waived.agent_key, reason: 'x', approved_by: 'Mia', expires: '2099-01-01' },
    ]
    const levelled = { ...blocking, risk_classification: 'limited' }
    const report = await on.impact({ repo_id, changes: [to([amounts, levelled], waivers)] })
    const blocked = report.agents.map(({ agent_id, newly_blocked_tasks, policies_before, policies_after }) => [
      agent_id,
      newly_blocked_tasks,
      policies_after - policies_before,
    ])
    expect(Object.fromEntries(blocked.map(([id, ...rest]) => [id, rest]))).toEqual({
      [minimal]: [0, 0],
      [waived.agent_id]: [0, 1],
      [plain.agent_id]: [1, 1],
    })
  })

  it('counts the tasks that cannot be replayed whole, by reason', async () => {
    const { agent_id, repo_id } = await prepared([amounts])
    const task = [start, refund({ amount: 1 }), end]
    for (const task_id of ['whole', 'wiped', 'cut', 'large', 'huge', 'long', 'heavy'])
      await log(agent_id, task, { task_id })
    const bare = { ...refund({}), input: undefined }
    await log(agent_id, [start, bare, end], { task_id: 'bare' })
    await git.platform.call('POST', '/api/v1/erasures', { body: { task_id: 'wiped', legal_basis: 'GDPR Art. 17' } })
    const at = (task_id: string) => `log_index in (select log_index from log_entries where task_id = '${task_id}')`
    sql("begin; set local app.pruning = 'on'; delete from log_entries where task_id = 'cut' and seq = 1; commit")
    sql("update task_heads set seq = 10001 where task_id = 'large'")
    const body = (bytes: number) => `'{"step_name":"refund","input":{"amount":"' || repeat('x', ${bytes}) || '"}}'`
    sql(`update log_payloads set body = ${body(4_000_000)} where ${at('huge')}`)
    // Too large for a query of several tasks, but not for one.
    sql(`update log_payloads set body = ${body(40_000)} where ${at('heavy')}`)
    const long = Array.from({ length: 700 }, () => refund({ amount: 1 }))
    await log(agent_id, [start, ...long], { task_id: 'longer' })
    const report = await on.impact({ repo_id, changes: [to([blocking])] })
    expect(report.left_out).toEqual([
      { reason: 'metadata_only', tasks: 1 },
      { reason: 'payload_erased', tasks: 1 },
      { reason: 'pruned', tasks: 1 },
      { reason: 'too_long', tasks: 2 },
    ])
    expect([report.recorded_tasks, report.tasks, report.steps]).toEqual([9, 4, 3 * 3 + 701])
    expect(placesOf(report.first_flips.listed).map(([task_id]) => task_id)).toEqual([
      'whole',
      'long',
      'heavy',
      'longer',
    ])
  })

  it('agrees with a replay of the steps that were sent', async () => {
    const { agent_id, agent_key, repo_id } = await prepared([amounts])
    const sent: { task_id: string; entries: Step[] }[] = []
    const inputs = [{ amount: 1 }, { reason: 'x' }, {}, { amount: 1, reason: 'x' }]
    for (let task = 0; task < 40; task += 1) {
      const steps = inputs.map((_, index) => refund(inputs[(task * 7 + index * (task % 3)) % 4] ?? {}))
      sent.push(await log(agent_id, [start, ...steps.slice(task % 4), end]))
    }
    const path = `/api/v1/policies?agent_id=${agent_id}&limit=200`
    const { policies } = (await git.platform.call<PolicyList>('GET', path)).body
    const report = await on.impact({ repo_id, changes: [to([asking])] })
    const stored = (policies as unknown as Parameters<typeof samePolicies>[0]).filter(
      ({ name }) => name !== amounts.name,
    )
    const own = (written: WrittenPolicy) => ({ ...stored[0], ...JSON.parse(refunds([written])).policies[0], id: 9999 })
    const first = new Map<string, unknown[]>()
    const replay = createReplay({
      policies: samePolicies([...stored, own(asking)]),
      against: samePolicies([...stored, own(amounts)]),
      agent: { agent_id, agent_key },
      onStep: ({ task_id, step, before, after }) => {
        const outcomes = [before?.outcome, after.outcome]
        if (outcomes[0] !== outcomes[1] && !first.has(task_id)) first.set(task_id, [task_id, step.step, ...outcomes])
      },
    })
    for (const { entries } of sent) for (const step of entries) replay.add({ kind: 'step', step })
    const result = replay.finish()
    expect(report).toMatchObject({
      tasks: result.tasks,
      steps: result.steps,
      newly_blocked_tasks: result.newly_blocked_tasks,
      no_longer_blocked_tasks: result.no_longer_blocked_tasks,
      first_flips: { total: result.flipped_tasks },
    })
    expect(placesOf(report.first_flips.listed).sort()).toEqual([...first.values()].sort())
  })

  it('is about one workspace', async () => {
    const mails = await startMailServer()
    const more = await startPlatform({ database_url: url, env: { SVC_SMTP_URL: mails.url } })
    try {
      const person = await signedIn(more, mails, 'mia@example.org')
      const { key } = (await person.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'mine' })).body
      const manifest_path = 'operational/starter.yaml'
      const libraries = sql(`select distinct id from repositories where provider = 'bundled'`)
      const [repo_id] = libraries.split('\n').map(Number)
      const assigned = async (as: string, manager: string, agent_key: string) => {
        const { body } = await git.platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as, body: { agent_key } })
        const { agent_id } = body
        const body_of = { agent_id, repo_id, manifest_path }
        const { status } = await git.platform.call('POST', '/api/v1/assignments', { as: manager, body: body_of })
        const { task_id } = await log(agent_id, [start, refund({}), end], { as, task_id: agent_key })
        return { status, agent_id, task_id }
      }
      const mine = await assigned(key, person.token, 'theirs')
      const ours = await assigned('key', 'operator', 'ours')
      expect([libraries, mine.status, ours.status]).toEqual([String(repo_id), 201, 201])
      const org_id = sql(`select org_id from agents where agent_id = '${mine.agent_id}'`)
      const foreign = await openImpact(more, org_id)
      const request = { repo_id: repo_id ?? 0, changes: [to([blocking], [], manifest_path)] }
      const [own, other] = [await on.impact(request), await foreign.impact(request)]
      await foreign.close()
      const seen = ({ agents, recorded_tasks, first_flips }: ImpactReport) => [
        agents.map(({ agent_id }) => agent_id),
        recorded_tasks,
        first_flips.listed.map(({ flip }) => flip.task_id),
      ]
      expect(seen(own)).toEqual([[ours.agent_id], 1, ['ours']])
      expect(seen(other)).toEqual([[mine.agent_id], 1, ['theirs']])
    } finally {
      await discard(more)
      await mails.close()
    }
  })

  it('ends when it is aborted, and when its thread runs out of memory', async () => {
    const { agent_id, repo_id } = await prepared([amounts])
    for (let task = 0; task < 3; task += 1) await log(agent_id, [start, refund({ amount: 1 }), end])
    const request = { repo_id, changes: [to([blocking])] }
    const reason = new Error('not wanted any more')
    await expect(on.impact(request, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason)
    let abort = new AbortController()
    // The clock is asked once, between the agents and the tasks.
    const aborting = () => {
      abort.abort(reason)
      return Date.now()
    }
    const running = on.impact(request, { signal: abort.signal, clock: aborting })
    await expect(running).rejects.toBe(reason)
    const reads = { count: 0, last: 0 }
    const read: Reading = async (work) => {
      const found = await on.read(work)
      reads.count += 1
      if (reads.count === reads.last) abort.abort(reason)
      return found
    }
    const all = { ...request, days: 30, max_tasks: 10, max_steps: 300_000 }
    const replayed = (signal?: AbortSignal) =>
      impactOf(read, on.scope, all, { clock: Date.now, seed: 'head', ...(signal && { signal }) })
    expect((await replayed()).tasks).toBe(3)
    // The thread is running when the last tasks are read.
    Object.assign(reads, { count: 0, last: reads.count })
    abort = new AbortController()
    await expect(replayed(abort.signal)).rejects.toBe(reason)
    expect(reads.count).toBe(reads.last)
    await expect(on.impact(request, { max_memory: 5 })).rejects.toThrow(/could not be replayed: .*5 MiB/)
  })
})
