// Search: by ids, beginnings of ids, names and reasons.
import type {
  Incident,
  IncidentList,
  Policy,
  PolicyList,
  Problem,
  RegisteredAgent,
  SearchResultList,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
let agent_id: string
let incident: Incident
let policy: Policy
beforeAll(async () => {
  platform = await startPlatform()
  const register = (agent_key: string, name: string) =>
    platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key, name, owner_id: 'o', purpose: 'p' },
    })
  agent_id = (await register('refund-agent', 'Refunds of the shop')).body.agent_id
  await register('other', 'Other')
  for (const task_id of ['refund-1', 'refund-10', 'refund', ...Array.from({ length: 9 }, (_, n) => `many-${n}`)])
    for (const [index, step_type] of ['task.start', 'step.exec'].entries()) {
      const step = { task_id, step: index + 1, step_type, timestamp: '2026-01-05T09:00:00Z' }
      await platform.call('POST', '/api/v1/logs', { as: 'key', body: { agent_key: 'refund-agent', ...step } })
    }
  const [first] = (await platform.call<IncidentList>('GET', '/api/v1/incidents?task_id=refund-1')).body.incidents
  if (first === undefined) throw new Error('no incident')
  incident = first
  policy = (await platform.call<PolicyList>('GET', '/api/v1/policies')).body.policies[0] as Policy
})
afterAll(() => discard(platform))

async function search(q: string) {
  const path = `/api/v1/search?q=${encodeURIComponent(q)}`
  const { status, body } = await platform.call<SearchResultList>('GET', path)
  expect(status).toBe(200)
  return body.results
}
const named = async (q: string) => (await search(q)).map(({ kind, id }) => `${kind} ${id}`)

describe('a search', () => {
  it('finds tasks by the beginning of their ids, the whole id first', async () => {
    expect((await named('refund')).slice(0, 4)).toEqual([
      'task refund',
      'task refund-1',
      'task refund-10',
      `agent ${agent_id}`,
    ])
    expect(await named('REFUND-1')).toEqual([])
    expect((await named('many-')).length).toBe(8)
    expect((await search('refund-10'))[0]).toMatchObject({ title: 'refund-10', detail: 'Refunds of the shop' })
  })

  it('finds agents by id, key and name, in any case', async () => {
    for (const q of [agent_id, 'refund-agent', 'of the SHOP'])
      expect((await search(q))[0]).toMatchObject({
        kind: 'agent',
        id: agent_id,
        title: 'Refunds of the shop',
        detail: 'refund-agent',
      })
  })

  it('finds policies by id and name', async () => {
    expect((await named(String(policy.id)))[0]).toBe(`policy ${policy.id}`)
    expect(await named(policy.name.toUpperCase())).toContain(`policy ${policy.id}`)
  })

  it('finds incidents by id, and the latest of a group by its reason', async () => {
    const { reason } = incident.violation_details
    expect((await search(incident.id))[0]).toMatchObject({
      kind: 'incident',
      title: incident.policy_name,
      detail: reason,
    })
    const found = (await search(reason.toUpperCase())).filter(({ kind }) => kind === 'incident')
    expect(found.length).toBe(1)
    expect(found[0]?.detail).toBe(reason)
  })

  it('takes every character as it is', async () => {
    for (const q of ['%', '_', "' or 1=1 --", '\\', 'ü'.repeat(200), '9'.repeat(200)])
      expect(await search(q)).toEqual([])
  })

  it.each(['', 'q=', 'q=%00', `q=${'x'.repeat(201)}`, 'q=x&limit=3'])('rejects the query %s', async (query) => {
    const { status, body } = await platform.call<Problem>('GET', `/api/v1/search?${query}`)
    expect([status, body.errors.map(({ path }) => path)]).toEqual([422, [query.includes('limit') ? 'limit' : 'q']])
  })
})
