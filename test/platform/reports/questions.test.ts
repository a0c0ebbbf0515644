// A report on an incident that the system resolved: answered by an approved step, and reviewed by no member.
import { actionDigest } from '@svc/proof'
import type { EventList, IncidentList, Policy, TraceAnswer } from '@svc/schemas'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { answered } from '../../../report/content/answered.js'
import type { ReportData } from '../../../report/content/report-data.js'
import { risks } from '../../../report/sections/incidents/oscal.js'
import { fast } from '../../support/log/log.js'
import { openReportLog } from '../../support/reports/report-log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform({ env: fast })
})
afterAll(() => discard(platform))

const payments = {
  name: 'Payments are approved',
  rule_type: 'field_in_list',
  params: { field: 'input.to', values: ['landlord'], target_step_names: ['pay'] },
  severity: 'critical',
  scope: 'step_execution',
  approval: { check_type: 'human_approval' },
}
const pay = { step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { to: 'roofer' } }
const action_digest = actionDigest(pay)

/** An expired question, then the approval of a person and the step. */
async function approveLate(): Promise<void> {
  const { body: policy } = await platform.call<Policy>('POST', '/api/v1/policies', { body: payments })
  await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a', owner_id: 'o', purpose: 'p' } })
  const timestamp = new Date().toISOString()
  const violations = [{ policy_id: policy.id, name: policy.name, code: 'C' }]
  const decided = {
    evaluation_id: 'e',
    decided_at: timestamp,
    outcome: 'ask',
    action_digest,
    intended: pay,
    violations,
  }
  const guard = { check_type: 'human_approval', result: 'passed' }
  const gate = { step_type: 'step.gate', input: { action_digest }, properties: { guard } }
  const steps = [{ step_type: 'task.start' }, gate, pay, { step_type: 'task.end' }]
  for (const lists of [
    { unrecorded: { task_id: 't', ...decided } },
    { steps: steps.map((step, index) => ({ ...step, task_id: 't', step: index + 1, timestamp })) },
  ])
    expect(
      (await platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', body: { agent_key: 'a', ...lists } }))
        .status,
    ).toBe(200)
}

async function reportOfAll(): Promise<ReportData> {
  const { body: incidents } = await platform.call<IncidentList>('GET', '/api/v1/incidents?state=open')
  expect(incidents.total).toBe(0)
  const { events } = (await platform.call<EventList>('GET', '/api/v1/events?kind=incident.resolved')).body
  expect(events).toHaveLength(1)
  const log = await openReportLog(platform)
  const data = await log.collect(await log.plan())
  await log.db.close()
  return data
}

it('counts no review of an incident that an approved step resolved, and no risk of it', async () => {
  await approveLate()
  const data = await reportOfAll()
  const { summary, incidents } = data
  expect(incidents.list.rows).toMatchObject([
    { state: 'resolved', effect: 'blocked', history: [{ by: 'system:approvals', from: 'open', to: 'resolved' }] },
  ])
  expect([incidents.time_to_review.count, incidents.time_to_resolve.count]).toEqual([0, 1])
  expect([summary.incidents_open, summary.incidents_unanswered]).toEqual([0, 0])
  expect(answered(data)).toMatch(/^1 of 1 incident was answered by steps that were approved later\. Policies asked/)
  expect(risks(data)).toEqual([])
  expect(data.integrity.verdict).toBe('whole')
})
