// A question of a real engine that expires: its incident is resolved once a person approves the step and the agent does it.
import type {
  Evaluation,
  EventList,
  Incident,
  IncidentList,
  MadeApiKey,
  Policy,
  RecordedStep,
  TraceAnswer,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { fast } from '../../support/log/log.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { soon } from '../../support/server/soon.js'

const payments = {
  name: 'Payments are approved',
  rule_type: 'field_in_list',
  params: { field: 'input.to', values: ['landlord'], target_step_names: ['pay'] },
  severity: 'critical',
  scope: 'step_execution',
  approval: { check_type: 'human_approval' },
}
const pay = { step_type: 'step.resource', verb: 'POST', step_name: 'pay', input: { to: 'roofer', amount: 700 } }

let platform: TestPlatform
let mails: MailServer
let mia: SignedIn
beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { ...fast, SVC_SMTP_URL: mails.url } })
  mia = await signedIn(platform, mails, 'mia@example.org')
  for (const as of ['operator', mia.token])
    expect((await platform.call<Policy>('POST', '/api/v1/policies', { as, body: payments })).status).toBe(201)
  const agent = { agent_key: 'desk', owner_id: 'o', purpose: 'p' }
  expect((await platform.call('POST', '/api/v1/agents', { as: 'key', body: agent })).status).toBe(201)
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

const incidentOf = async (task_id: string, as = 'operator'): Promise<Incident> => {
  const { incidents } = (await platform.call<IncidentList>('GET', `/api/v1/incidents?task_id=${task_id}`, { as })).body
  const found = incidents.find(({ policy_name }) => policy_name === payments.name)
  if (found === undefined) throw new Error(`no incident of ${task_id}`)
  return found
}
const engine = () =>
  startServe(
    [],
    {},
    {
      SVC_API_URL: platform.url,
      SVC_API_KEY: platform.api_key,
      SVC_AGENT_KEY: 'desk',
      SVC_ASK_TIMEOUT_SECONDS: '1',
    },
  )
const asks = async (serve: Serve, task_id: string) => {
  const context = { agent_id: 'desk', task_id, environment: 'test', risk_classification: 'limited' }
  return (await serve.post<Evaluation>('/evaluate', { intended: pay, context })).body
}
const records = async (serve: Serve, step: object) => {
  const { status, body } = await serve.post<RecordedStep>('/record', step)
  expect([status, body]).toEqual([200, expect.anything()])
}
const waiting = async ({ url }: Serve) => {
  const text = await (await fetch(`${url}/metrics`)).text()
  return /^svc_decisions_open (\d+)$/m.exec(text)?.[1]
}

describe('a question of an engine', () => {
  it('that expires opens an incident, which the approved and recorded step resolves, also after a restart', async () => {
    let serve = await engine()
    try {
      const { outcome, approval_required = [] } = await asks(serve, 'roof')
      expect(outcome).toBe('ask')
      const { id } = await vi.waitFor(() => incidentOf('roof'), soon)
      expect(await incidentOf('roof')).toMatchObject({ state: 'open', effect: 'blocked', occurrences: 1 })
      serve = await serve.restart()
      for (const { gate } of approval_required) await records(serve, gate)
      expect((await asks(serve, 'roof')).outcome).toBe('allow')
      await records(serve, { step: { ...pay, task_id: 'roof', output: { status: 'ok' } } })
      const resolved = await vi.waitFor(async () => {
        const incident = await incidentOf('roof')
        expect(incident.state).toBe('resolved')
        return incident
      }, soon)
      expect(resolved).toMatchObject({
        id,
        reviewed_by: null,
        note: expect.stringMatching(/^a person approved the step \(gate at step 1\)/),
      })
      expect(await waiting(serve)).toBe('0')
      const { events } = (await platform.call<EventList>('GET', `/api/v1/events?subject=${id}&kind=incident.resolved`))
        .body
      expect(events).toMatchObject([{ actor_kind: 'system', actor_id: 'approvals' }])
    } finally {
      await serve.discard()
    }
  })

  it('that a person rejects after it expired stays an open incident', async () => {
    const serve = await engine()
    try {
      const { approval_required = [] } = await asks(serve, 'gutter')
      await vi.waitFor(() => incidentOf('gutter'), soon)
      for (const { gate } of approval_required) {
        const { step } = gate as { step: { properties: { guard: object } } }
        const guard = { ...step.properties.guard, result: 'rejected' }
        await records(serve, { step: { ...step, properties: { ...step.properties, guard } } })
      }
      expect((await asks(serve, 'gutter')).outcome).toBe('ask')
      await records(serve, { step: { task_id: 'gutter', step_type: 'task.end' } })
      await vi.waitFor(async () => {
        const { body } = await platform.call<EventList>('GET', '/api/v1/logs?task_id=gutter')
        expect(JSON.stringify(body)).toContain('task.end')
      }, soon)
      expect(await incidentOf('gutter')).toMatchObject({ state: 'open', note: null })
    } finally {
      await serve.discard()
    }
  })
})

it('an approved step settles no question about the same action in a task of the same id of another workspace', async () => {
  const { body: key } = await mia.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'desk' })
  const theirs = key.key
  await platform.call('POST', '/api/v1/agents', { as: theirs, body: { agent_key: 'desk' } })
  const context = { agent_id: 'desk', task_id: 'shared' }
  const timestamp = '2026-01-05T09:00:00Z'
  const sends = async (as: string, lists: object) => {
    const answer = await platform.call<TraceAnswer>('POST', '/api/v1/traces', {
      as,
      body: { agent_key: 'desk', ...lists },
    })
    expect(
      [...answer.body.results, ...answer.body.unrecorded].map(({ status }) => status).filter((one) => one !== 201),
    ).toEqual([])
  }
  for (const as of ['key', theirs]) {
    const body = { intended: pay, context: { ...context, agent_id: await idOf(as) } }
    const { action_digest, violations } = (
      await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', { as, body })
    ).body
    const own = violations.map(({ policy_id, name }) => ({ policy_id, name, code: 'C' }))
    const report = {
      task_id: 'shared',
      evaluation_id: 'e',
      decided_at: timestamp,
      outcome: 'ask',
      action_digest,
      intended: pay,
      violations: own,
    }
    await sends(as, { unrecorded: report })
  }
  const { approval_required = [] } = (
    await platform.call<Evaluation>('POST', '/api/v1/engine/evaluate', {
      as: 'key',
      body: { intended: pay, context: { ...context, agent_id: await idOf('key') } },
    })
  ).body
  const gates = approval_required.map(({ gate }, index) => ({ ...gate, task_id: 'shared', step: index + 1, timestamp }))
  const steps = [...gates, { ...pay, task_id: 'shared', step: gates.length + 1, timestamp }]
  await sends('key', { steps: steps.map(({ agent_id: _, ...step }: Record<string, unknown>) => step) })
  expect((await incidentOf('shared')).state).toBe('resolved')
  expect((await incidentOf('shared', mia.token)).state).toBe('open')
})

async function idOf(as: string): Promise<string> {
  const { body } = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', {
    as,
    body: { agent_key: 'desk' },
  })
  return body.agent_id
}
