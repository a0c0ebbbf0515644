// The governance of an agent in GET /api/v1/agents/{id}/engines, and heartbeats that are late, repeated, or the last.
import type { EngineIntervals, EventList, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const noon = Date.UTC(2026, 5, 1, 12)
const at = (minutes: number) => new Date(noon + minutes * 60_000).toISOString()

describe('the governance of an agent', () => {
  let platform: TestPlatform
  let path: string
  let now = noon
  const send = async (more: object) => {
    const beat = { instance_id: 'one', agent_key: 'desk', load_state: 'enforcing', policy_count: 15, version: '0.11.0' }
    const body = { ...beat, since: at(0), ...more }
    return (await platform.call('POST', '/api/v1/engines/heartbeat', { as: 'key', body })).status
  }
  const read = async (query = '') => (await platform.call<EngineIntervals>('GET', `${path}${query}`)).body
  const events = async () =>
    (await platform.call<EventList>('GET', '/api/v1/events?kind=engine.state')).body.events.map(({ data }) => data)

  beforeAll(async () => {
    platform = await startPlatform({ clock: () => now })
    const { body } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'desk' },
    })
    path = `/api/v1/agents/${body.agent_id}/engines`
  })
  afterAll(() => discard(platform))

  it('is that of the last 30 days', async () => {
    now = noon + 60_000
    expect(await send({})).toBe(204)
    expect((await read()).governance).toEqual({
      from: '2026-05-02T12:01:00.000Z',
      to: at(1),
      governed_seconds: 60,
      ungoverned_seconds: 0,
      unknown_seconds: 0,
      idle_seconds: 0,
      intervals: [],
      more: 0,
    })
  })

  it('includes what arrives late, once', async () => {
    now = noon + 60 * 60_000
    const late = [
      { until: at(10) },
      { load_state: 'unavailable', since: at(10), until: at(15) },
      { load_state: 'stale_cache', since: at(15), until: at(60) },
    ]
    for (const one of [...late, ...late.reverse()]) expect(await send(one)).toBe(204)
    const { governance, intervals } = await read()
    expect(governance).toMatchObject({ governed_seconds: 55 * 60, ungoverned_seconds: 300, unknown_seconds: 0 })
    expect(governance.intervals).toEqual([
      { from: at(10), to: at(15), state: 'ungoverned', reason: 'unavailable', instance_id: 'one' },
    ])
    expect(intervals.map(({ load_state, since, until }) => [load_state, since, until])).toEqual([
      ['stale_cache', at(15), null],
      ['unavailable', at(10), at(15)],
      ['enforcing', at(0), at(10)],
    ])
  })

  it('is limited to a period', async () => {
    const { governance } = await read(`?from=${at(12)}&to=${at(20)}`)
    expect(governance).toMatchObject({ from: at(12), to: at(20), governed_seconds: 300, ungoverned_seconds: 180 })
    expect(governance.intervals).toMatchObject([{ from: at(12), to: at(15) }])
  })

  it('ends now at the latest', async () => {
    expect((await read(`?from=${at(50)}&to=${at(900)}`)).governance).toMatchObject({ from: at(50), to: at(60) })
  })

  it('ends with an engine that reports its end', async () => {
    now = noon + 62 * 60_000
    expect(await send({ load_state: 'stale_cache', since: at(15), until: at(61), ended: true })).toBe(204)
    now = noon + 120 * 60_000
    const { governance, intervals } = await read()
    expect(intervals[0]).toMatchObject({ load_state: 'stale_cache', until: at(61), unknown_since: null })
    expect(governance).toMatchObject({ governed_seconds: 56 * 60, ungoverned_seconds: 300, unknown_seconds: 0 })
  })

  it('is in the log: each state, and each part that was learned late, has an event', async () => {
    const found = (await events()).reverse()
    expect(found.map(({ since, known_from, known_until, ended }) => [since, known_from, known_until, ended])).toEqual([
      [at(0), at(0), at(1), false],
      [at(0), at(1), at(10), false],
      [at(10), at(10), at(15), false],
      [at(15), at(15), at(60), false],
      [at(15), at(60), at(61), true],
    ])
  })

  it.each([
    ['an empty period', `?from=${at(5)}&to=${at(5)}`],
    ['a period that ends before it begins', `?from=${at(6)}&to=${at(5)}`],
    ['a period that begins in the future', `?from=${at(1000)}&to=${at(2000)}`],
    ['text instead of a time', '?from=yesterday'],
    ['a time with SQL in it', `?to=${encodeURIComponent("2026-01-01T00:00:00Z' or 1=1 --")}`],
    ['an unknown parameter', '?until=now'],
  ])('of %s is rejected', async (_, query) => {
    expect((await platform.call('GET', `${path}${query}`)).status).toBe(422)
  })

  it.each([
    ['an end that is not a boolean', { ended: 'yes' }, 422],
    ['an end of the state before its begin', { until: at(-1), ended: true }, 422],
    ['a time of a clock that is more than five minutes ahead', { since: at(126) }, 422],
    ['a time of a clock that is less than five minutes ahead', { since: at(124), instance_id: 'ahead' }, 204],
    ['the instance of another run and control characters', { instance_id: 'one\u0000' }, 422],
  ])('is read from checked heartbeats: one with %s', async (_, more, status) => {
    expect(await send(more)).toBe(status)
  })
})
