// Registration of agents: rejected requests, and violations that become incidents (docs/design/platform.md §2).
import type { Problem, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
const other_key = `SvcKey-${'o'.repeat(43)}`
beforeAll(async () => {
  platform = await startPlatform({ env: { SVC_SEED_API_KEY: other_key } })
})
afterAll(() => discard(platform))

describe('a registration', () => {
  const register = (body: unknown, as = 'key') =>
    platform.call<RegisteredAgent & Problem>('POST', '/api/v1/agents', { as, body })

  it.each([
    ['no agent_key', {}, 422],
    ['an empty agent_key', { agent_key: '' }, 422],
    ['an unknown risk level', { agent_key: 'x', risk_classification: 'extreme' }, 422],
    ['an unknown environment', { agent_key: 'x', environment: 'moon' }, 422],
    ['tools that are numbers', { agent_key: 'x', declared_tools: [1] }, 422],
    ['the character NUL in an attribute', { agent_key: 'x', note: 'a\u0000' }, 422],
  ])('with %s is rejected', async (_, body, status) => expect((await register(body)).status).toBe(status))

  it('with unacceptable risk is accepted and opens an incident', async () => {
    const { status, body } = await register({
      agent_key: 'scorer',
      risk_classification: 'unacceptable',
      owner_id: 'x',
      purpose: 'y',
    })
    expect([status, body.violations.map((violation) => violation.name)]).toEqual([201, ['No prohibited system']])
    const incidents = await platform.call('GET', `/api/v1/incidents?agent_id=${body.agent_id}`)
    expect(incidents.body).toMatchObject({
      total: 1,
      incidents: [{ scope: 'agent_registration', task_id: null, severity: 'critical' }],
    })
  })

  it('under another API key creates another agent', async () => {
    expect((await register({ agent_key: 'twin' })).body.agent_id).not.toBe(
      (await register({ agent_key: 'twin' }, other_key)).body.agent_id,
    )
  })

  it('keeps the risk level in effect until a lower one is confirmed', async () => {
    await register({ agent_key: 'level', risk_classification: 'high' })
    const { body } = await register({ agent_key: 'level', risk_classification: 'minimal' })
    expect((await platform.call('GET', `/api/v1/agents/${body.agent_id}`)).body).toMatchObject({
      risk_classification: 'minimal',
      effective_risk_classification: 'high',
    })
    await register({ agent_key: 'level', risk_classification: 'unacceptable' })
    expect((await platform.call('GET', `/api/v1/agents/${body.agent_id}`)).body).toMatchObject({
      risk_classification: 'unacceptable',
      effective_risk_classification: 'unacceptable',
    })
  })
})
