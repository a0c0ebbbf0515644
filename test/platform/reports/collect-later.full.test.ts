// The same report at a later time: nothing that happened after the cut-off changes it.
import type { AssignmentList, HoldList, RepositoryList } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { noteChange } from '../../../platform/access/commands/members.js'
import { insertMember } from '../../../platform/access/store/members.js'
import { withUnscopedTransaction } from '../../../platform/db/db.js'
import { namedStep } from '../../support/http/approvals.js'
import { amounts, policyCalls } from '../../support/http/written-policies.js'
import {
  answerIncidents,
  askForApprovals,
  changeWorkspace,
  importExamples,
  logTask,
  moveIncident,
  openReportLog,
  type ReportLog,
  reportDatabases,
  startReportPlatform,
} from '../../support/reports/report-log.js'
import { discard, type TestPlatform } from '../../support/server/platform.js'

describe.each(await reportDatabases())('on $kind, a report as of a cut-off', ({ url }) => {
  const opened: TestPlatform[] = []
  afterAll(async () => {
    for (const platform of opened.slice(-1)) await discard(platform)
  })

  it('is the same after everything has changed', async () => {
    let platform = await askForApprovals(await startReportPlatform(url()))
    opened.push(platform)
    await importExamples(platform)
    const hostile_id = await changeWorkspace(platform)
    const incidents = await answerIncidents(platform)
    const policies = await writePolicies(platform)
    const log = await openReportLog(platform)
    const plan = await log.plan()
    const chosen = { ...plan, agent_ids: [hostile_id] }
    const past = { ...plan, period: { from: plan.period.from, to: await middleOf(log, plan.cut_off) } }
    const before = [await log.collect(plan), await log.collect(chosen), await log.collect(past)]
    expect(await log.collect(plan)).toEqual(before[0])
    await log.db.close()

    platform = await platform.restart()
    opened.push(platform)
    await changePolicies(platform, policies)
    await changeEverything(platform, incidents, hostile_id)
    const later = await openReportLog(platform)
    await addMember(later)
    expect([await later.collect(plan), await later.collect(chosen), await later.collect(past)]).toEqual(before)
    const now = await later.collect(await later.plan())
    expect(now.agents.rows.map(({ name }) => name)).toContain('Another name')
    expect(now.retention.days).toBe(500)
    expect(now.summary.steps).toBeGreaterThan(before[0]?.summary.steps ?? 0)
    await later.db.close()
  })
})

async function middleOf({ query, scope }: ReportLog, size: number): Promise<string> {
  const [row] = await query<{ at: string }>(
    `select to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from log_leaves
     where org_id = $1 and log_index = $2`,
    [scope.org_id, Math.floor((size * 2) / 3)],
  )
  return row?.at ?? ''
}

/** A policy that a step violates, one that a registration violates, and a policy of the baseline that was set to observe. */
async function writePolicies(platform: TestPlatform): Promise<number[]> {
  const { created, change, register, refund, list } = policyCalls(() => platform)
  const { agent_id } = await register('written')
  const rule = { rule_type: 'field_not_empty', params: { field: 'owner_id' }, scope: 'agent_registration' }
  const written = [
    await created({ ...amounts, controls: ['ASI01'] }),
    await created({ ...amounts, ...rule, controls: ['ASI02'] }),
  ]
  await register('written')
  await refund(agent_id, 'refunds of the period', 2)
  const [baseline] = await list(`agent_id=${agent_id}&source=manifest`)
  await change(baseline?.id ?? 0, { mode: 'observe' })
  return [...written.map(({ id }) => id), baseline?.id ?? 0]
}

async function changePolicies(platform: TestPlatform, [step = 0, registration = 0, baseline = 0]: readonly number[]) {
  const { change, move, remove } = policyCalls(() => platform)
  const done = [
    await change(step, { name: 'Another name', severity: 'low', controls: ['ASI09'] }),
    await move(step, 'disable'),
    await change(registration, { controls: [] }),
    await remove(registration),
    await move(baseline, 'disable'),
  ]
  expect(done.map(({ status }) => status)).toEqual(done.map(() => 200))
}

/** Uses every part of the workspace. */
async function changeEverything(platform: TestPlatform, incidents: readonly string[], hostile_id: string) {
  const list = await platform.call<{ agents: { agent_id: string; agent_key: string; active: boolean }[] }>(
    'GET',
    '/api/v1/agents?limit=50',
  )
  // The policies of the other one were replaced outside the log.
  const [other] = list.body.agents.filter(({ agent_key, active }) => active && agent_key !== 'approvals')
  const agent_id = other?.agent_id ?? ''
  const done = async (method: string, path: string, body?: object) =>
    expect([path, (await platform.call(method, path, { ...(body && { body }) })).status]).toEqual([
      path,
      expect.toSatisfy((status: number) => status < 300),
    ])
  await done('PATCH', `/api/v1/agents/${agent_id}`, { name: 'Another name', risk_classification: 'high' })
  await done('POST', `/api/v1/agents/${hostile_id}/reactivate`)
  await logTask(platform, agent_id, 'approved later', [namedStep('roof'), namedStep('repair')])
  await moveIncident(platform, incidents[0] ?? '', 'resolve')
  await moveIncident(platform, incidents[5] ?? '', 'ignore')
  await done('POST', '/api/v1/retention', { retention_days: 500 })
  const { holds } = (await platform.call<HoldList>('GET', '/api/v1/holds')).body
  await done('POST', `/api/v1/holds/${holds[0]?.id}/release`)
  const { assignments } = (await platform.call<AssignmentList>('GET', '/api/v1/assignments')).body
  const own = assignments.find((one) => one.agent_id === agent_id)
  await done('DELETE', `/api/v1/assignments/${own?.id}`)
  const { repos } = (await platform.call<RepositoryList>('GET', '/api/v1/repos')).body
  const manifest = { agent_id, repo_id: repos[0]?.id, manifest_path: 'operational/starter.yaml' }
  await done('POST', '/api/v1/assignments', manifest)
}

async function addMember({ db, scope }: ReportLog): Promise<void> {
  await withUnscopedTransaction(db, async (tx) => {
    const person = ['psn_new', 'new@example.org', 'New', new Date().toISOString()]
    await tx.query('insert into people (person_id, email, name, created_at) values ($1, $2, $3, $4)', person)
    await insertMember(scope, tx, Date.now(), 'psn_new', 'auditor')
    await noteChange(scope, tx, Date.now(), 'member.became', 'psn_new', { role: 'auditor' })
  })
}
