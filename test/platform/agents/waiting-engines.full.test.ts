// Requests for policies that wait for a change (`Prefer: wait`).
import { request } from 'node:http'
import type { MadeApiKey, Stop } from '@svc/schemas'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createWaitingEngines } from '../../../platform/agents/waiting-engines.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { forEachDatabase } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

/** How long a caller waits at most. A stop that takes as long has waited for callers. */
const waitMs = 25_000

await forEachDatabase('a waiting engine', ({ fresh }) => {
  let platform: TestPlatform
  beforeEach(async () => {
    const { database_url, data_dir } = fresh()
    platform = await startPlatform({ database_url, data_dir })
    for (const agent_key of ['a', 'b']) await register(agent_key)
  })
  afterEach(() => discard(platform))
  const register = (agent_key: string) =>
    platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key, owner_id: 'o', purpose: 'p' } })
  const policies = (agent_key: string, headers: Record<string, string>, as: string = 'key') =>
    platform.call('GET', `/api/v1/policies/effective?agent_key=${agent_key}`, { as, headers })
  const tagOf = async (agent_key: string, as?: string) => (await policies(agent_key, {}, as)).headers.get('etag') ?? ''
  /** A waiting request, and whether it is answered. */
  const waiting = async (agent_key: string, seconds = 20, as?: string) => {
    const etag = await tagOf(agent_key, as)
    const state = { answered: false }
    const answer = policies(agent_key, { 'if-none-match': etag, prefer: `wait=${seconds}` }, as).then((one) => {
      state.answered = true
      return one
    })
    return { state, answer, etag }
  }
  const stop = async (body: object) =>
    (await platform.call<Stop>('POST', '/api/v1/stops', { body: { reason: 'r', ...body } })).body.id

  it('gets a change of its own policies, and not one of others', async () => {
    const [own, other] = [await waiting('a'), await waiting('b')]
    await register('c')
    const id = await stop({ agent_key: 'a' })
    const { status, headers, body } = await own.answer
    expect([status, headers.get('preference-applied')]).toEqual([200, 'wait=20'])
    expect(JSON.stringify(body)).toContain(id)
    expect(headers.get('etag')).not.toBe(own.etag)
    expect(other.state.answered).toBe(false)
    await platform.close()
    expect((await other.answer).status).toBe(304)
  })

  it('gets 304 when the time is over, and an answer at once when it knows other policies or asks for no wait', async () => {
    const { answer, etag } = await waiting('a', 1)
    expect([(await answer).status, (await answer).headers.get('preference-applied')]).toEqual([304, 'wait=1'])
    expect((await policies('a', { 'if-none-match': '"other"', prefer: 'wait=25' })).status).toBe(200)
    expect((await policies('a', { prefer: 'respond-async, wait=90' })).headers.get('preference-applied')).toBe(
      'wait=25',
    )
    for (const prefer of ['wait=0', 'wait=-1', 'wait', 'waiting=5', 'return=minimal']) {
      const { status, headers } = await policies('a', { 'if-none-match': etag, prefer })
      expect([prefer, status, headers.get('preference-applied')]).toEqual([prefer, 304, null])
    }
  })

  it('is rejected as soon as its key is revoked', async () => {
    const key = (await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: { name: 'k' } })).body
    const body = { agent_key: 'x', owner_id: 'o', purpose: 'p' }
    await platform.call('POST', '/api/v1/agents', { as: key.key, body })
    const [own, other] = [await waiting('x', 20, key.key), await waiting('a')]
    await platform.call('POST', `/auth/api-keys/${key.api_key.id}/revoke`)
    expect((await own.answer).status).toBe(401)
    expect(other.state.answered).toBe(false)
    await stop({ workspace: true })
    expect((await other.answer).status).toBe(200)
  })

  it('delays no stop of the process', async () => {
    const all = await Promise.all(Array.from({ length: 100 }, () => waiting('a', 25)))
    const answers = all.map(({ answer }) => answer.then(({ status }) => status).catch(() => null))
    const began = performance.now()
    await platform.close()
    expect(performance.now() - began).toBeLessThan(waitMs)
    // A request that the platform had not read yet finds a closed connection.
    const statuses = (await Promise.all(answers)).filter((status) => status !== null)
    expect([statuses.length > 50, new Set(statuses)]).toEqual([true, new Set([304])])
  })
})

describe('the places of waiting engines', () => {
  it('are limited for each key, each organization and the process, and given back', async () => {
    const { enter, close } = createWaitingEngines(
      { db: null as never, clock: Date.now, policy_ttl_seconds: 1 },
      { maxPerKey: 2, maxPerProcess: 6 },
    )
    const [first] = [enter('o', 'a'), enter('o', 'a')]
    expect(enter('o', 'a')).toBeNull()
    // Three of six places: whatever keys the organization has, another one finds some.
    expect([enter('o', 'b') === null, enter('o', 'c')]).toEqual([false, null])
    expect([enter('p', 'a') === null, enter('p', 'b') === null, enter('p', 'b')]).toEqual([false, false, null])
    first?.()
    expect([enter('q', 'a') === null, enter('q', 'a')]).toEqual([false, null])
    close()
    expect(enter('z', 'z')).toBeNull()
  })

  it('are given back when a caller disconnects', async () => {
    const platform = await startPlatform()
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
    const url = `${platform.url}/api/v1/policies/effective?agent_key=a`
    const authorization = `Bearer ${platform.api_key}`
    const etag = (await fetch(url, { headers: { authorization } })).headers.get('etag') ?? ''
    const sent = request(url, { headers: { authorization, 'if-none-match': etag, prefer: 'wait=25' } }).end()
    sent.on('error', () => undefined)
    await new Promise((resolve) => sent.once('socket', (socket) => socket.once('connect', resolve)))
    sent.destroy()
    const began = performance.now()
    await platform.close()
    expect(performance.now() - began).toBeLessThan(waitMs)
    await discard(platform)
    await vi.waitFor(() => expect(sent.destroyed).toBe(true), soon)
  })
})
