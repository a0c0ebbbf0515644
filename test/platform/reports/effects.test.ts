// What a report shows of stopped and executed attempts, and of decisions whose steps were never recorded: as of its cut-off.
import type { IncidentList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ReportData } from '../../../report/content/report-data.js'
import {
  openReportLog,
  type ReportLog,
  reportDatabases,
  signedCheckpoint,
  startReportPlatform,
} from '../../support/reports/report-log.js'
import { discard, type TestPlatform } from '../../support/server/platform.js'

const timestamp = '2026-01-05T09:00:00Z'
/** A step that violates a policy of the baseline. */
const step = { step: 1, step_type: 'step.exec', timestamp }

describe.each(await reportDatabases())('on $kind, the report of an agent that is stopped', ({ url }) => {
  let platform: TestPlatform
  let log: ReportLog
  /** The size of the log before the last step. */
  let before: number
  let policy: { readonly policy_id: number; readonly name: string }

  const send = async (lists: object) => {
    const body = { agent_key: 'a', ...lists }
    expect((await platform.call('POST', '/api/v1/traces', { as: 'key', body })).status).toBe(200)
  }
  const decided = (task_id: string, outcome: string, more: object = {}) => {
    const decision = {
      task_id,
      evaluation_id: task_id,
      decided_at: timestamp,
      outcome,
      intended: { step_type: 'step.exec' },
    }
    return { ...decision, violations: [{ ...policy, code: 'GATE_MISSING' }], ...more }
  }
  beforeAll(async () => {
    platform = await startReportPlatform(url())
    const agent = { agent_key: 'a', owner_id: 'o', purpose: 'p' }
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: agent })
    await send({ steps: [{ ...step, task_id: 'ran' }] })
    const { incidents } = (await platform.call<IncidentList>('GET', '/api/v1/incidents')).body
    const [found] = incidents.filter(({ violation_details }) => violation_details.code === 'GATE_MISSING')
    policy = { policy_id: found?.policy_id ?? 0, name: found?.policy_name ?? '' }
    await send({ steps: [{ ...step, task_id: 'recorded', output: { status: 'blocked' } }] })
    const waived = { violations: [{ ...policy, waived: true }] }
    const unrecorded = [decided('one', 'block'), decided('two', 'ask'), decided('three', 'warn', { others: 4 })]
    await send({ unrecorded: [...unrecorded, decided('four', 'allow', waived)] })
    before = (await signedCheckpoint(platform)).size
    await send({ steps: [{ ...step, task_id: 'one', meta: { 'svc.eval': { evaluation_id: 'one' } } }] })
    log = await openReportLog(platform)
  })
  afterAll(async () => {
    await log.db.close()
    await discard(platform)
  })

  const effectsOf = ({ incidents }: ReportData) =>
    Object.fromEntries(
      incidents.list.rows.flatMap(({ task_id, policy_name, effect }) =>
        policy_name === policy.name ? [[task_id, effect]] : [],
      ),
    )
  const declared = { unrecorded_decisions: 8, unrecorded_blocked: 2, unrecorded_allowed: 2 }

  it('counts what ran, what was stopped, and what engines declare', async () => {
    const data = await log.collect(await log.plan())
    expect(data.integrity.verdict).toBe('whole')
    const expected = { ran: 'executed', recorded: 'blocked', one: 'executed', two: 'blocked', three: 'unknown' }
    expect(effectsOf(data)).toEqual(expected)
    expect(data.summary).toMatchObject(declared)
    expect(data.policies.rows.filter(({ name }) => name === policy.name)).toMatchObject([
      { violations: 3, unrecorded: 3, incidents: 5 },
    ])
    const { blocked, executed, unknown } = data.incidents.effects
    expect([blocked >= 2, executed >= 2, unknown]).toEqual([true, true, 1])
    expect(blocked + executed + unknown).toBe(data.summary.incidents_opened)
  })

  it('is as of its cut-off: a step that ran later does not change it', async () => {
    const [checkpoint] = await log.query<{ size: number; root: string }>(
      'select size, root from checkpoints where size <= $1 order by size desc limit 1',
      [before],
    )
    const plan = await log.plan({ cut_off: checkpoint?.size ?? 0, root: checkpoint?.root ?? '' })
    const data = await log.collect(plan)
    expect(effectsOf(data)).toMatchObject({ one: 'blocked', two: 'blocked' })
    expect(data.summary).toMatchObject(declared)
  })

  it('limited to another agent, has none of it', async () => {
    const data = await log.collect(await log.plan({ agent_ids: ['ag_other'] }))
    expect(data.summary).toMatchObject({ unrecorded_decisions: 0, incidents_opened: 0 })
    expect(data.incidents.effects).toEqual({ blocked: 0, executed: 0, unknown: 0 })
  })
})
