// An outage of the database: requests are rejected with UNAVAILABLE, and no acknowledged step is lost.
import type { Problem, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { hasPostgres, type Postgres, startPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'
import { otlpRequest, otlpSpan } from '../../support/spans/otlp.js'

describe.skipIf(!hasPostgres())('an outage of the database', () => {
  let postgres: Postgres
  let platform: TestPlatform
  let step = 0
  const log = (number: number) =>
    platform.call<Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: {
        task_id: 't',
        step: number,
        step_type: number === 1 ? 'START_NODE' : 'LLM_CALL',
        timestamp: '2026-01-05T09:00:00Z',
      },
    })
  const span = otlpSpan(['t', null, 'execute_tool a', 1, 2, { 'gen_ai.operation.name': 'execute_tool' }])
  const exportSpan = () => platform.call<Problem>('POST', '/v1/traces', { as: 'key', body: otlpRequest([span]) })
  beforeAll(async () => {
    postgres = (await startPostgres('-c fsync=off')) as Postgres
    platform = await startPlatform({ database_url: postgres.emptyDatabase() })
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
    for (; step < 3; step++) await log(step + 1)
  })
  afterAll(async () => {
    await discard(platform)
    await postgres.remove()
  })

  it.each(['fast', 'immediate'] as const)(
    '(stopped %s) is answered with 503 and Retry-After until the database is back',
    async (mode) => {
      postgres.stop(mode)
      const rejected = await Promise.all([
        log(step + 1),
        log(step + 1),
        exportSpan(),
        platform.call<Problem>('GET', '/api/v1/logs'),
      ])
      for (const { status, headers, body } of rejected) {
        expect([status, body.code, headers.get('retry-after')]).toEqual([503, 'UNAVAILABLE', '1'])
      }
      const health = async () => (await platform.call('GET', '/health')).body
      const unavailable = { status: 'degraded', database: { connected: false, latency_ms: null } }
      await vi.waitFor(async () => expect(await health()).toMatchObject(unavailable), soon)
      expect((await fetch(`${platform.url}/livez`)).status).toBe(200)
      const ready = async () => {
        const { status, body } = await platform.call('GET', '/readyz', { as: null })
        return [status, body]
      }
      const stopped = [
        503,
        { status: 'degraded', not_ready: ['database', 'jobs'], checkpoints: 'ok', jobs: { running: false } },
      ]
      await vi.waitFor(async () => expect(await ready()).toEqual(stopped), soon)
      postgres.start()
      const again = await log(step + 1)
      expect([200, 201]).toContain(again.status)
      step++
      const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/t/verify')
      expect(body).toMatchObject({ valid: true, entries: step })
      await vi.waitFor(async () => expect(await health()).toMatchObject({ status: 'ok' }), soon)
      const running = [200, { status: 'ok', not_ready: [], checkpoints: 'ok', jobs: { running: true } }]
      await vi.waitFor(async () => expect(await ready()).toEqual(running), soon)
    },
  )
})
