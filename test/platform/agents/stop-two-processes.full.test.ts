// A stop at one of two platforms on one database, and an engine that starts again while no platform can be reached.
import type { Evaluation, Stop } from '@svc/schemas'
import { describe, expect, it, vi } from 'vitest'
import { type Serve, startServe } from '../../support/engine/serve.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

const isStopped = async (engine: Serve, agent_id: string) => {
  const intended = { step_type: 'step.model', verb: 'POST' }
  const { body } = await engine.post<Evaluation>('/evaluate', {
    intended,
    context: { agent_id, task_id: 't', environment: 'development' },
  })
  return body.violations.some(({ rule_type }) => rule_type === 'stopped')
}
const engineOf = async (platform: TestPlatform, api_key: string, agent_key: string) => {
  await platform.call('POST', '/api/v1/agents', { as: api_key, body: { agent_key, owner_id: 'o', purpose: 'p' } })
  return startServe([], {}, { SVC_API_URL: platform.url, SVC_API_KEY: api_key, SVC_AGENT_KEY: agent_key })
}

describe.skipIf(postgres === null)('a stop at one of two processes', () => {
  if (postgres === null) return
  it('reaches the engines that wait at either, and holds for one that starts again during an outage', async () => {
    const database_url = postgres.freshDatabase()
    const one = await startPlatform({ database_url })
    const other = await startPlatform({ database_url, data_dir: one.data_dir })
    const a = await engineOf(one, one.api_key, 'a')
    const b = await engineOf(other, one.api_key, 'b')
    const reached = async (stopped: boolean) => {
      const began = performance.now()
      const each = Object.entries({ a, b }).map(([agent_key, engine]) =>
        vi.waitFor(async () => expect(await isStopped(engine, agent_key)).toBe(stopped), { ...soon, interval: 10 }),
      )
      await Promise.all(each)
      return Math.round(performance.now() - began)
    }
    await reached(false)
    const { id } = (await one.call<Stop>('POST', '/api/v1/stops', { body: { workspace: true, reason: 'r' } })).body
    const stopped = await reached(true)
    await other.call('POST', `/api/v1/stops/${id}/resume`, { body: {} })
    const resumed = await reached(false)
    console.log(`a stop reached both processes after ${stopped} ms, its resumption after ${resumed} ms`)

    await other.call('POST', '/api/v1/stops', { body: { agent_key: 'b', reason: 'r' } })
    await vi.waitFor(async () => expect(await isStopped(b, 'b')).toBe(true), soon)
    await discard(other)
    await discard(one)
    const again = await b.restart()
    expect(await isStopped(again, 'b')).toBe(true)
    await Promise.all([a.discard(), again.discard()])
  })
})
