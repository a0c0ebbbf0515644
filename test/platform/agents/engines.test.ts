// Heartbeats of local engines, and their absence.
import type { EngineIntervals, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

describe('a heartbeat', () => {
  let platform: TestPlatform
  let agent_id: string
  let now = Date.UTC(2026, 5, 1, 12)
  const at = (minutes: number) => new Date(Date.UTC(2026, 5, 1, 12) + minutes * 60_000).toISOString()
  const beat = {
    instance_id: 'one',
    agent_key: 'desk',
    load_state: 'enforcing',
    since: at(-10),
    policy_count: 15,
    version: '0.11.0',
  }
  const send = (more: object, as: string = 'key') =>
    platform.call('POST', '/api/v1/engines/heartbeat', { as, body: { ...beat, ...more } })
  const read = async () =>
    (await platform.call<EngineIntervals>('GET', `/api/v1/agents/${agent_id}/engines`)).body.intervals

  beforeAll(async () => {
    platform = await startPlatform({ clock: () => now })
    const { body } = await platform.call<RegisteredAgent>('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'desk' },
    })
    agent_id = body.agent_id
  })
  afterAll(() => discard(platform))

  it('creates one interval, even when it is repeated', async () => {
    expect(await read()).toEqual([])
    for (let time = 0; time < 3; time++) expect((await send({})).status).toBe(204)
    const { agent_key: _, ...told } = beat
    expect(await read()).toEqual([{ ...told, until: null, unknown_since: null }])
  })

  it('adds an interval between others when it is late', async () => {
    await send({ load_state: 'stale_cache', since: at(-5), until: at(-3) })
    await send({ load_state: 'enforcing', since: at(-3) })
    const intervals = await read()
    expect(intervals.map(({ load_state, since, until }) => [load_state, since, until])).toEqual([
      ['enforcing', at(-3), null],
      ['stale_cache', at(-5), at(-3)],
      ['enforcing', at(-10), at(-5)],
    ])
  })

  it('that is missing makes the state unknown', async () => {
    now += 4 * 60_000
    expect((await read())[0]).toMatchObject({ until: null, unknown_since: at(0) })
    await send({ since: at(-3) })
    expect((await read())[0]).toMatchObject({ since: at(-3), unknown_since: null })
  })

  it.each([
    ['an unknown agent', { agent_key: 'other' }, 404],
    ['an unknown state', { load_state: 'unknown' }, 422],
    ['the future', { since: at(60) }, 422],
    ['an end before its beginning', { since: at(-1), until: at(-2) }, 422],
    ['an instance with spaces', { instance_id: 'a b' }, 422],
    ['too much', { more: 1 }, 422],
  ])('with %s is rejected', async (_, more, status) => {
    expect((await send(more)).status).toBe(status)
  })

  it('is sent with an API key and read by members', async () => {
    expect((await send({}, 'operator')).status).toBe(403)
    expect((await platform.call('GET', `/api/v1/agents/${agent_id}/engines`, { as: 'key' })).status).toBe(403)
    expect((await platform.call('GET', '/api/v1/agents/ag_0/engines')).status).toBe(404)
  })
})
