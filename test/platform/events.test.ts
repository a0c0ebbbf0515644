// The audit trail as people read it.
import type { EventList, Incident } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { register } from '../support/log.js'
import { discard, startPlatform, type TestPlatform } from '../support/platform.js'

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

  it('names what was done, the latest first', async () => {
    const { events, total } = await read()
    expect(total).toBe(events.length)
    expect(new Set(events.map(({ kind }) => kind))).toEqual(
      new Set(['incident.opened', 'agent.registered', 'assignment.created', 'api_key.created', 'workspace.created']),
    )
    const made = events.find(({ kind }) => kind === 'workspace.created')
    expect(made).toMatchObject({ actor_kind: 'system', at: '2026-06-01T00:00:00.000Z' })
    expect(events.map(({ id }) => id)).toEqual([...events.map(({ id }) => id)].sort().reverse())
  })

  it('is filtered by kind, actor, subject and time', async () => {
    now += 60_000
    const { body } = await platform.call<{ incidents: Incident[] }>('GET', '/api/v1/incidents')
    const id = body.incidents[0]?.id ?? ''
    await platform.call('POST', `/api/v1/incidents/${id}/resolve`, { body: { note: 'done' } })
    expect(await kinds('?kind=incident.resolved')).toEqual(['incident.resolved'])
    expect(await kinds('?actor=local')).toEqual(['incident.resolved'])
    expect(await kinds(`?subject=${id}`)).toEqual(['incident.resolved', 'incident.opened'])
    expect(await kinds('?from=2026-06-01T00:00:30Z')).toEqual(['incident.resolved'])
    expect(await kinds('?to=2026-06-01T00:00:30Z&kind=incident.resolved')).toEqual([])
  })

  it('comes in pages', async () => {
    const whole = await kinds()
    const first = await read('?limit=2')
    const rest = await kinds(`?limit=200&cursor=${first.next_cursor}`)
    expect([...first.events.map(({ kind }) => kind), ...rest]).toEqual(whole)
  })

  it('is read by people alone, and changed by nobody', async () => {
    expect((await platform.call('GET', '/api/v1/events', { as: 'key' })).status).toBe(403)
    expect((await platform.call('GET', '/api/v1/events', { as: null })).status).toBe(401)
    expect((await platform.call('DELETE', '/api/v1/events')).status).toBe(405)
  })
})
