// Who acted and who approved in a report: people by name and id, approvers as their gates claim them.
import type { MadeApiKey, Policy, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { scopeOf } from '../../../platform/db/scope.js'
import { collectReport } from '../../../platform/reports/collect/make-report.js'
import type { ReportData } from '../../../report/content/report-data.js'
import { reportPdf } from '../../../report/formats/pdf.js'
import { fast } from '../../support/log/log.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'
import { hasPoppler, textOf } from '../../support/reports/pdf.js'
import { openReportLog, signedCheckpoint } from '../../support/reports/report-log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const payments = {
  name: 'payments are approved',
  rule_type: 'field_in_list',
  params: { field: 'input.to', values: ['landlord'], target_step_names: ['pay'] },
  severity: 'critical',
  scope: 'step_execution',
  approval: { check_type: 'human_approval' },
}
const pay = { step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { to: 'roofer', amount: 700 } }

describe('a report on what people did', () => {
  let platform: TestPlatform
  let mails: MailServer
  let mia: SignedIn
  let data: ReportData
  beforeAll(async () => {
    mails = await startMailServer()
    platform = await startPlatform({ env: { ...fast, SVC_SMTP_URL: mails.url } })
    mia = await signedIn(platform, mails, 'mia@example.org')
    expect((await mia.call<Policy>('POST', '/api/v1/policies', payments)).status).toBe(201)
    const key = await mia.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'desk' })
    expect(key.status).toBe(201)
    const as = key.body.key
    const { body: agent } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
      as,
      body: { agent_key: 'desk' },
    })
    for (const [task_id, claimed] of Object.entries(claims)) await approve(as, agent.agent_id, task_id, claimed)
    // An event after the steps: checkpoints are waited for by the last event.
    expect((await mia.call<Policy>('POST', '/api/v1/policies', { ...payments, name: 'later' })).status).toBe(201)
    data = await reportOfWorkspace()
  })
  afterAll(async () => {
    await discard(platform)
    await mails.close()
  })

  /** Each way in which the properties of a gate name its approver, and the name. */
  const claims: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    nested: { auth: { principal: 'noor@example.org' } },
    flat: { 'auth.principal': 'omar@example.org' },
    both: { auth: { principal: 'desk-bot@example.org' }, approver: 'Pia' },
    none: {},
  }

  async function approve(
    as: string,
    agent_id: string,
    task_id: string,
    { approver, ...claimed }: Record<string, unknown>,
  ) {
    const context = { agent_id, task_id }
    const { body } = await platform.call<{ approval_required?: { gate: { properties: { guard: object } } }[] }>(
      'POST',
      '/api/v1/engine/evaluate',
      { as, body: { intended: pay, context } },
    )
    const [asked] = body.approval_required ?? []
    const guard = { ...asked?.gate.properties.guard, ...(approver !== undefined && { approver }) }
    const gate = { ...asked?.gate, properties: { ...asked?.gate.properties, ...claimed, guard } }
    const step = { ...pay, ...context, step: 2, timestamp: new Date().toISOString() }
    for (const sent of [gate, step])
      expect((await platform.call('POST', '/api/v1/logs', { as, body: sent })).status).toBe(201)
  }

  /** A report on the workspace of the person. */
  async function reportOfWorkspace(): Promise<ReportData> {
    const own: TestPlatform = { ...platform, call: (method, path) => mia.call(method, path) }
    const { size, root } = await signedCheckpoint(own)
    const log = await openReportLog(own)
    const plan = await log.plan({ cut_off: size, root })
    const found = await collectReport(log.parts, scopeOf(mia.org_id, { kind: 'system', id: 'test' }), plan)
    await log.db.close()
    return found
  }

  it('names the approver that a gate claims, else on whose behalf the gate acts', () => {
    const rows = data.oversight.approvals.rows.map(({ task_id, outcome, approver }) => [task_id, outcome, approver])
    expect(rows).toEqual([
      ['nested', 'given', 'noor@example.org'],
      ['flat', 'given', 'omar@example.org'],
      ['both', 'given', 'Pia'],
      ['none', 'given', null],
    ])
  })

  it('lists the people whose ids it shows, with their names', () => {
    expect(data.oversight.people).toEqual([{ person_id: mia.id, name: 'mia' }])
    expect(data.policy_changes.rows.map(({ actor }) => actor)).toContain(`person:${mia.id}`)
    expect(data.integrity.verdict).toBe('whole')
  })

  it.skipIf(!hasPoppler)('prints names with ids, and approvers as claims', async () => {
    const text = textOf(await reportPdf(data, '<x/>')).replace(/\s+/g, '')
    expect(text).toContain(`mia(${mia.id})`)
    expect(text).toContain('Givenbynoor@example.orgatstep1,asthegateclaims')
  })
})
