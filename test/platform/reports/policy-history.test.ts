// The waivers and the changes of policies in a report, from manifests in Git and policies that people wrote.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PolicyChangeResult, ReportData } from '../../../report/content/report-data.js'
import { reportPdf } from '../../../report/formats/pdf.js'
import { type ManifestsInGit, manifestPath, openManifestsInGit, refunds } from '../../support/git/manifests-in-git.js'
import { fast } from '../../support/log/log.js'
import { hasPoppler, textOf } from '../../support/reports/pdf.js'
import { logTask, openReportLog, type ReportLog } from '../../support/reports/report-log.js'

const amount = { name: 'amount is given', severity: 'medium', controls: ['ACME-7'] }
const calls = {
  name: 'few calls',
  rule_type: 'execution_max_steps',
  params: { step_type: 'step.model', max_steps: 10 },
  severity: 'critical',
}
const hosts = Array.from({ length: 200 }, (_, index) => `host-${index}.example`)
const allowed = {
  name: 'known hosts',
  rule_type: 'domain_allowlist',
  params: { field: 'input.url', allowed_domains: hosts },
  severity: 'high',
}
const expires = '2099-01-31'
const waiver = { reason: 'the till is replaced', approved_by: 'Mia Brandt', expires }

/** What an operator, an author and two agents do. */
async function act({ platform, ...git }: ManifestsInGit) {
  const desk = await git.register({ agent_key: 'desk', name: 'Desk' })
  const till = await git.register({ agent_key: 'till', name: 'Till' })
  const { id, repository, url } = await git.connect({ [manifestPath]: refunds([amount, calls]) })
  const of_desk = (await git.assign(desk.agent_id, id)).body.id
  const of_till = (await git.assign(till.agent_id, id)).body.id
  const versions = [
    refunds([{ ...amount, severity: 'high' }, calls]),
    refunds([{ ...amount, severity: 'high' }, calls], [{ policy: amount.name, agent_key: 'desk', ...waiver }]),
    refunds(
      [{ ...amount, severity: 'high', description: 'in euros' }, calls, allowed],
      [{ policy: amount.name, agent_key: 'desk', ...waiver }],
    ),
    refunds([
      { ...amount, severity: 'high' },
      { ...calls, params: { step_type: 'step.model', max_steps: 30 } },
    ]),
  ]
  const shas: string[] = []
  for (const [index, text] of versions.entries()) {
    repository.commit({ [manifestPath]: text })
    shas.push(repository.git('rev-parse', `main:${manifestPath}`).trim())
    await git.tick(id)
    if (index === 1) expect((await git.change(of_desk, 'approve')).status).toBe(200)
    if (index === 2)
      await logTask(platform, desk.agent_id, 'refunds', [refund, refund, { ...refund, input: { amount: 1 } }])
  }
  expect((await git.change(of_till, 'approve')).status).toBe(200)
  expect((await platform.call('DELETE', `/api/v1/assignments/${of_till}`)).status).toBe(204)
  await write(platform)
  return { desk, till, url, shas, commit: repository.git('rev-parse', 'main').trim() }
}

const refund = { step_type: 'step.resource', verb: 'POST', step_name: 'refund' }

/** A policy that is written, changed, disabled and deleted. */
async function write({ call }: ManifestsInGit['platform']) {
  const body = {
    name: 'at most five',
    rule_type: 'execution_max_steps',
    params: { step_type: 'step.model', max_steps: 5 },
    scope: 'step_execution',
    severity: 'high',
    risk_classification: 'limited',
  }
  const made = await call<{ id: number }>('POST', '/api/v1/policies', { body })
  const path = `/api/v1/policies/${made.body.id}`
  const params = { step_type: 'step.model', max_steps: 3 }
  const statuses = [
    made.status,
    (await call('PATCH', path, { body: { params } })).status,
    (await call('POST', `${path}/disable`, { body: {} })).status,
    (await call('DELETE', path)).status,
  ]
  expect(statuses).toEqual([201, 200, 200, 200])
}

describe('a report on a period with waivers and changed policies', () => {
  let git: ManifestsInGit
  let log: ReportLog
  let done: Awaited<ReturnType<typeof act>>
  let data: ReportData
  beforeAll(async () => {
    git = await openManifestsInGit({ env: fast })
    done = await act(git)
    log = await openReportLog(git.platform)
    data = await log.collect(await log.plan())
  })
  afterAll(async () => {
    await log.db.close()
    await git.close()
  })

  const changes = (kind: string) => data.policy_changes.rows.filter((row) => row.kind === kind)

  it('lists a waiver once over all versions of its manifest, with its use, its reason and its approver', () => {
    const { desk, url, shas } = done
    expect(data.integrity.verdict).toBe('whole')
    expect(data.waivers).toEqual({
      rows: [
        {
          policy_name: amount.name,
          agent_id: desk.agent_id,
          agent_name: 'Desk',
          manifest: { name: 'Refunds', repo: url, path: manifestPath, sha: shas[2] },
          from: expect.stringMatching(/Z$/),
          until: '2099-02-01T00:00:00.000Z',
          used: 2,
          reason: waiver.reason,
          approved_by: waiver.approved_by,
        },
      ],
      more: 0,
    })
    expect(data.waivers.rows[0]?.from).toBe(versions()[1]?.at)
  })

  it('limited to another agent has no waiver and no change of this one', async () => {
    const plan = await log.plan({ agent_ids: [done.till.agent_id] })
    const { waivers, policy_changes } = await log.collect(plan)
    expect(waivers).toEqual({ rows: [], more: 0 })
    const named = policy_changes.rows.flatMap(({ agents }) => agents.map(({ agent_id }) => agent_id))
    expect(new Set(named)).toEqual(new Set([done.till.agent_id]))
  })

  it('lists each version that came into force with its values, its direction and its commit', () => {
    const [both, waived, wider, looser] = versions()
    expect(both).toMatchObject({
      manifest: { path: manifestPath, to_sha: done.shas[0] },
      agents: [{ agent_name: 'Desk' }, { agent_name: 'Till' }],
      effect: 'stricter',
      held: false,
      approved_by: null,
      policies: [{ name: amount.name, change: 'stricter', values: [{ path: 'severity', what: 'medium → high' }] }],
    })
    expect(waived).toMatchObject({ held: true, effect: 'looser', actor: expect.stringMatching(/^(person|operator):/) })
    expect(waived?.approved_by).toBe(waived?.actor)
    expect(waived?.policies).toMatchObject([
      { name: amount.name, values: [{ path: 'waiver', what: `not set → ${expires}`, effect: 'looser' }] },
    ])
    expect(wider?.policies.map(({ name, change }) => [name, change])).toEqual([
      ['known hosts', 'added'],
      [amount.name, 'none'],
    ])
    expect(looser).toMatchObject({
      agents: [{ agent_name: 'Till' }],
      held: true,
      effect: 'looser',
      commit_sha: done.commit,
      manifest: { from_sha: done.shas[2], to_sha: done.shas[3] },
    })
    expect(looser?.policies).toMatchObject([
      { name: 'known hosts', change: 'removed' },
      { name: 'few calls', values: [{ path: 'params.max_steps', what: '10 → 30', effect: 'looser' }] },
      { name: amount.name, change: 'none', values: [{ path: 'description' }] },
    ])
  })

  it('lists assignments, and policies that people wrote', () => {
    const made = changes('assignment.created').find(({ manifest }) => manifest?.path === manifestPath)
    expect(made).toMatchObject({ effect: 'stricter', agents: [{ agent_name: 'Desk' }, { agent_name: 'Till' }] })
    expect(changes('assignment.removed')).toMatchObject([{ effect: 'looser', agents: [{ agent_name: 'Till' }] }])
    const written = ['created', 'updated', 'disabled', 'deleted'].flatMap((name) => changes(`policy.${name}`))
    expect(written.map(({ effect, agents, manifest }) => [effect, agents.length, manifest])).toEqual([
      ['stricter', 0, null],
      ['stricter', 0, null],
      ['looser', 0, null],
      ['looser', 0, null],
    ])
    expect(written[0]?.policies).toMatchObject([
      {
        change: 'added',
        values: [
          { path: 'rule_type', what: 'not set → execution_max_steps', effect: 'stricter' },
          { path: 'params', what: expect.stringContaining('"max_steps":5') },
          { path: 'severity' },
          { path: 'mode' },
        ],
      },
    ])
    expect(written[1]).toMatchObject({
      risk_classification: 'limited',
      policies: [{ name: 'at most five', values: [{ path: 'params.max_steps', what: '5 → 3', effect: 'stricter' }] }],
    })
  })

  it('keeps values out of the general list of changes', () => {
    const texts = data.oversight.changes.rows.map(({ text }) => text)
    expect(texts).toContain(`another version of an assigned manifest came into force: ${manifestPath}`)
    expect(texts.join('\n')).not.toContain('→')
  })

  it.skipIf(!hasPoppler)('prints both sections, and has the same bytes when it is made again', async () => {
    const text = textOf(await reportPdf(data, '<x/>')).replace(/\s+/g, ' ')
    expect(text).toContain('as the manifest states them')
    expect(text).toContain('Approved by Mia Brandt')
    expect(text).toContain('few calls max_steps 10 → 30 (looser)')
    expect(text).toContain('Author not known to the log')
    const plan = await log.plan()
    expect((await log.make(plan)).sha256).toBe((await log.make(plan)).sha256)
  })

  /** The versions of the manifest, in the order of their commits. */
  function versions(): (PolicyChangeResult | undefined)[] {
    const rows = changes('assignment.resynced')
    const at = (sha: string | undefined, ...more: string[]) =>
      rows.find(
        ({ manifest, agents }) =>
          manifest?.to_sha === sha && more.every((name) => agents.some((one) => one.agent_name === name)),
      )
    const [one, two, three, four] = done.shas
    return [at(one), at(two, 'Desk'), at(three), at(four)]
  }
})
