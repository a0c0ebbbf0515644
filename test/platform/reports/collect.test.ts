// The content of a report: every number is computed again by plain SQL. collect.full.test.ts runs all of it, on both databases.
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { Integrity, ReportData } from '../../../report/content/report-data.js'
import {
  answerIncidents,
  askForApprovals,
  changeWorkspace,
  holdReason,
  hostile,
  importExamples,
  importRecorded,
  openReportLog,
  type ReportLog,
  reportDatabases,
  startReportPlatform,
} from '../../support/reports/report-log.js'
import { sqlNumbers } from '../../support/reports/report-numbers.js'
import { discard, type TestPlatform } from '../../support/server/platform.js'

const isFull = inject('project') === 'full'
const databases = await reportDatabases()

describe.each(isFull ? databases : databases.slice(0, 1))('on $kind, the content of a report', ({ url }) => {
  let platform: TestPlatform
  let log: ReportLog
  let deactivated: string
  beforeAll(async () => {
    platform = await askForApprovals(await startReportPlatform(url()))
    await (isFull ? importRecorded(platform) : importExamples(platform))
    deactivated = await changeWorkspace(platform)
    await answerIncidents(platform)
    log = await openReportLog(platform)
  })
  afterAll(async () => {
    await log.db.close()
    await discard(platform)
  })

  it('has the numbers of plain SQL', async () => {
    const data = await log.collect(await log.plan())
    await expectNumbers(log, data)
    expect(data.integrity).toMatchObject({ verdict: 'whole', problems: { rows: [], more: 0 } })
    expect(data.summary.approvals_given).toBe(1)
    expect(data.summary.incidents_unanswered).toBeLessThan(data.summary.incidents_opened)
  })

  it('is limited to the chosen agents, and still verifies every entry', async () => {
    const [agent] = (await log.collect(await log.plan())).agents.rows.filter(
      ({ agent_key }) => agent_key === 'approvals',
    )
    const plan = await log.plan({ agent_ids: [agent?.agent_id ?? ''] })
    const data = await log.collect(plan)
    await expectNumbers(log, data)
    expect(data.agents.rows).toEqual([agent])
    expect(data.incidents.list.rows.every(({ agent_id }) => agent_id === agent?.agent_id)).toBe(true)
    expect(data.integrity.rehashed).toBe(plan.cut_off)
    // The bundle has the policy sets of the other agents too.
    expect(reasons(data.integrity).map(({ reason }) => reason)).not.toContain('policy_set_missing')
    expect([data.retention.holds.rows, data.retention.erasures.rows]).toEqual([[], []])
  })

  it.runIf(isFull)('of a part of the log is verified with the subtrees beside it', async () => {
    const plan = await log.plan()
    const [middle] = await log.query<{ at: string }>(
      `select to_char(received_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at from log_leaves
       where org_id = $1 and log_index = $2`,
      [log.scope.org_id, Math.floor(plan.cut_off / 2)],
    )
    const at = middle?.at ?? ''
    const halves = [
      { from: '2020-01-01T00:00:00.000Z', to: at },
      { from: at, to: '2100-01-01T00:00:00.000Z' },
    ]
    const [first, second] = await Promise.all(halves.map(async (period) => log.collect(await log.plan({ period }))))
    for (const data of [first, second]) {
      expect(data?.integrity.verdict).toBe('whole')
      await expectNumbers(log, data as ReportData)
    }
    expect((first?.integrity.rehashed ?? 0) + (second?.integrity.rehashed ?? 0)).toBe(plan.cut_off)
    expect(reasons(second?.integrity).length).toBeGreaterThan(0)
  })

  it.runIf(isFull).each([
    ['before the log began', { from: '2001-01-01T00:00:00.000Z', to: '2002-01-01T00:00:00.000Z' }],
    ['after the last entry', { from: '2090-01-01T00:00:00.000Z', to: '2091-01-01T00:00:00.000Z' }],
  ])('of a period %s is empty, and whole', async (_, period) => {
    const data = await log.collect(await log.plan({ period }))
    const { tasks, steps, violations, incidents_opened } = data.summary
    expect({ tasks, steps, violations, incidents_opened }).toEqual({
      tasks: 0,
      steps: 0,
      violations: 0,
      incidents_opened: 0,
    })
    expect(data.integrity).toMatchObject({ verdict: 'whole', rehashed: 0, leaves: {} })
    expect(data.activity.buckets).toEqual([])
    expect(data.agents.rows.length).toBe(data.summary.agents)
  })

  it('shows who answered, what was erased and changed, and the settings', async () => {
    const { incidents, oversight, retention, agents, integrity } = await log.collect(await log.plan())
    const histories = incidents.list.rows.flatMap(({ state, history }) =>
      history.length > 0 ? [[state, history.length]] : [],
    )
    expect(histories.sort()).toEqual([
      ['active', 1],
      ['active', 2],
      ['ignored', 1],
      ['resolved', 2],
    ])
    const [given] = oversight.approvals.rows.filter(({ outcome }) => outcome === 'given')
    expect(given).toMatchObject({ policy_name: 'Payments are approved', approved_by_step: 1, approver: 'Mia Brandt' })
    expect(retention).toMatchObject({ days: 400, prunes: { rows: [] } })
    expect(retention.erasures.rows).toMatchObject([{ tasks: 1, legal_basis: 'Art. 17 GDPR' }])
    expect(retention.holds.rows).toMatchObject([{ task_id: '__proto__', reason: holdReason, released_at: null }])
    expect(integrity.erased).toBe(retention.erasures.rows[0]?.entries)
    expect(reasons(integrity)).toContainEqual({ reason: 'payload_erased', steps: 2 })
    expect(agents.rows.find(({ agent_id }) => agent_id === deactivated)).toMatchObject({
      name: hostile,
      purpose: hostile,
      active: false,
      tasks: 2,
    })
    expect(oversight.changes.rows.map(({ text }) => text)).toContain(
      'the retention period changed from 365 to 400 days',
    )
    expect(oversight.members).toEqual([{ role: 'owner', count: 1 }])
  })

  it.runIf(isFull)('reports its progress, and ends when it is aborted', async () => {
    const shares: number[] = []
    await log.collect(await log.plan(), { progress: (share) => shares.push(share) })
    expect([shares.toSorted((a, b) => a - b), shares.at(-1)]).toEqual([shares, 1])
    const reason = new Error('not needed')
    const aborter = new AbortController()
    const progress = () => aborter.abort(reason)
    await expect(log.collect(await log.plan(), { signal: aborter.signal, progress })).rejects.toBe(reason)
  })

  it.runIf(isFull).each(['json', 'xml', 'pdf'] as const)('becomes the same file twice, as %s', async (format) => {
    const plan = await log.plan({ format })
    const [first, second] = [await log.make(plan), await log.make(plan)]
    expect([first.sha256, first.bytes.length]).toEqual([second.sha256, second.bytes.length])
    expect(first.bytes.length).toBeGreaterThan(10_000)
  })

  it.runIf(isFull)('needs memory within the bound, and says so', async () => {
    await expect(log.collect(await log.plan(), { max_memory: 4 })).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })
})

function reasons(integrity: Integrity | undefined) {
  return integrity?.rejudge.others ?? []
}

async function expectNumbers(log: ReportLog, data: ReportData): Promise<void> {
  const { first, end } = data.integrity.entries
  const plan = await log.plan({ agent_ids: data.report.agent_ids })
  const own = await sqlNumbers(log, plan, first, end)
  expect(data.summary).toMatchObject(own.summary ?? {})
  expect(data.activity.step_types).toEqual(own.step_types)
  expect(data.integrity.leaves).toEqual(own.leaves)
  const active = data.agents.rows.filter(({ steps }) => steps > 0).sort((a, b) => (a.agent_id < b.agent_id ? -1 : 1))
  expect(
    active.map(({ agent_id, steps, tasks, violations, incidents }) => ({
      agent_id,
      steps,
      tasks,
      violations,
      incidents,
    })),
  ).toEqual(own.agents)
  expect(byName(data)).toEqual(own.policies)
  const pair = ({ severity, state }: Record<string, unknown>) => `${severity} ${state}`
  expect(data.incidents.counts.map((row) => [pair({ ...row }), row.count]).sort()).toEqual(
    own.incidents.map((row) => [pair(row), row.count]).sort(),
  )
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const { buckets } = data.activity
  expect(sum(buckets.map(({ steps }) => steps))).toBe(data.summary.steps)
  expect(sum(buckets.map(({ violations }) => violations))).toBe(data.summary.violations)
  expect(sum(buckets.map(({ incidents }) => incidents))).toBe(data.summary.incidents_opened)
  const perDay = buckets.filter(({ steps }) => steps > 0).map(({ from, steps }) => ({ day: from.slice(0, 10), steps }))
  expect(perDay).toEqual(own.per_day)
  if (data.report.agent_ids === null) expect(data.oversight.events).toEqual(own.events)
  if (end < data.integrity.cut_off) return
  const { review, resolution } = own.seconds
  expect([data.incidents.time_to_review, data.incidents.time_to_resolve]).toEqual([review, resolution].map(durations))
}

/** Nearest rank. */
function durations(sorted: readonly number[]) {
  const rank = (share: number) => sorted[Math.ceil(share * sorted.length) - 1] ?? null
  return { count: sorted.length, median_seconds: rank(0.5), p90_seconds: rank(0.9) }
}

function byName({ policies }: ReportData) {
  const sums = new Map<string, { name: string; steps: number; violations: number }>()
  for (const { name, steps, violations, manifest } of policies.rows) {
    // A policy without a version of a manifest is known by its incidents alone.
    if (steps === 0 && violations === 0 && manifest !== undefined) continue
    const known = sums.get(name) ?? { name, steps: 0, violations: 0 }
    sums.set(name, { name, steps: known.steps + steps, violations: known.violations + violations })
  }
  return [...sums.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
