// Lists of the audit trail.
import type { EventList, Incident, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

describe('the audit trail', () => {
  let platform: TestPlatform
  let now = Date.UTC(2026, 5, 1)
  const read = async (query = '') => (await platform.call<EventList>('GET', `/api/v1/events${query}`)).body
  const kinds = async (query = '') => (await read(query)).events.map(({ kind }) => kind)
  beforeAll(async () => {
    platform = await startPlatform({ clock: () => now })
    await register(platform)
  })
  afterAll(() => discard(platform))

  it('lists events latest first', async () => {
    const { events, total } = await read()
    expect(total).toBe(events.length)
    expect(new Set(events.map(({ kind }) => kind))).toEqual(
      new Set([
        'incident.opened',
        'agent.registered',
        'assignment.created',
        'api_key.created',
        'repository.connected',
        'workspace.created',
      ]),
    )
    const made = events.find(({ kind }) => kind === 'workspace.created')
    expect(made).toMatchObject({ actor_kind: 'system', at: '2026-06-01T00:00:00.000Z' })
  })

  it('has the order of the log, also within one millisecond', async () => {
    for (let agent = 0; agent < 6; agent++) {
      const body = { agent_key: `ordered-${agent}` }
      const { body: made } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', { as: 'key', body })
      const newest = await read('?limit=3')
      expect(newest.events.map(({ kind }) => kind)).toEqual([
        'incident.opened',
        'assignment.created',
        'agent.registered',
      ])
      expect(newest.events[2]?.subject_id).toBe(made.agent_id)
    }
    const { events } = await read('?limit=200')
    const indexes = events.map(({ log_index }) => log_index)
    expect(indexes).toEqual([...new Set(indexes)].sort((a, b) => b - a))
    const times = events.map(({ at }) => at)
    expect(times).toEqual([...times].sort().reverse())
  })

  it('has stable pages while events are added', async () => {
    const before = (await read('?limit=200')).events.map(({ id }) => id)
    const first = await read('?limit=10')
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'between two pages' } })
    const second = await read(`?limit=200&cursor=${first.next_cursor}`)
    expect([...first.events, ...second.events].map(({ id }) => id)).toEqual(before)
  })

  it('is filtered by kind, actor, subject and time', async () => {
    now += 60_000
    const { body } = await platform.call<{ incidents: Incident[] }>('GET', '/api/v1/incidents')
    const id = body.incidents[0]?.id ?? ''
    await platform.call('POST', `/api/v1/incidents/${id}/resolve`, { body: { note: 'done' } })
    expect(await kinds('?kind=incident.resolved')).toEqual(['incident.resolved'])
    expect(await kinds('?kind=incident.&actor=local')).toEqual(['incident.resolved'])
    const ofIncidents = (await kinds('?limit=200')).filter((kind) => kind.startsWith('incident.'))
    expect(await kinds('?limit=200&kind=incident.')).toEqual(ofIncidents)
    expect((await read('?limit=1&kind=incident.')).total).toBe(ofIncidents.length)
    expect([await kinds('?kind=incident'), await kinds('?kind=.'), await kinds('?kind=%25.')]).toEqual([[], [], []])
    expect(await kinds('?actor=local')).toEqual(['incident.resolved'])
    expect(await kinds(`?subject=${id}`)).toEqual(['incident.resolved', 'incident.opened'])
    expect(await kinds('?from=2026-06-01T00:00:30Z')).toEqual(['incident.resolved'])
    expect(await kinds('?to=2026-06-01T00:00:30Z&kind=incident.resolved')).toEqual([])
  })

  it.each([
    '?kind=',
    '?kind=incident.opened&kind=incident.resolved',
    `?actor=${'a'.repeat(201)}`,
    '?subject=%00',
    '?from=yesterday',
    '?to=2026-13-01T00:00:00Z',
    '?limit=0',
    '?limit=201',
    '?cursor=%20',
    '?cursor=-1',
    '?severity=high',
  ])('rejects %s', async (query) => {
    const { status, body } = await platform.call<{ errors?: { path: string }[] }>('GET', `/api/v1/events${query}`)
    expect([status, body.errors?.length]).toEqual([422, 1])
  })

  it('comes in pages', async () => {
    const whole = await kinds('?limit=200')
    const first = await read('?limit=2')
    const rest = await kinds(`?limit=200&cursor=${first.next_cursor}`)
    expect([...first.events.map(({ kind }) => kind), ...rest]).toEqual(whole)
  })

  it('is readable for members only, and read-only', async () => {
    expect((await platform.call('GET', '/api/v1/events', { as: 'key' })).status).toBe(403)
    expect((await platform.call('GET', '/api/v1/events', { as: null })).status).toBe(401)
    expect((await platform.call('DELETE', '/api/v1/events')).status).toBe(405)
  })
})
