// Two platforms on one database: every incident is delivered once, and in order.
import type { BatchAnswer } from '@svc/schemas'
import { describe, expect, it, vi } from 'vitest'
import { makeAction, registerAgent } from '../../../support/http/actions.js'
import { startReceiver } from '../../../support/people/receiver.js'
import { discard, startPlatform } from '../../../support/server/platform.js'
import { sharedPostgres } from '../../../support/server/postgres.js'
import { soon } from '../../../support/server/soon.js'

const postgres = await sharedPostgres()
const incidents = 500

describe.skipIf(postgres === null)('two processes', () => {
  if (postgres === null) return
  it(`deliver ${incidents} incidents once each`, async () => {
    const start = { database_url: postgres.freshDatabase(), env: { SVC_CHECKPOINT_SECONDS: '0' } }
    const one = await startPlatform(start)
    const other = await startPlatform({ ...start, data_dir: one.data_dir })
    const receiver = await startReceiver()
    await registerAgent(one)
    const on = ['incident.created', 'incident.changed']
    await makeAction(one, { on, config: { url: receiver.url } })
    const entries = Array.from({ length: incidents }, (_, index) => ({
      task_id: `task-${index}`,
      step: 1,
      step_type: 'step.exec',
      timestamp: '2026-01-05T09:00:00Z',
    }))
    const half = incidents / 2
    const send = (platform: typeof one, from: number) =>
      platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
        as: one.api_key,
        body: { entries: entries.slice(from, from + half) },
      })
    const started = performance.now()
    expect((await Promise.all([send(one, 0), send(other, half)])).map(({ status }) => status)).toEqual([200, 200])
    const stored = performance.now()
    const list = (await one.call<{ incidents: { id: string }[] }>('GET', '/api/v1/incidents?limit=100')).body.incidents
    await Promise.all(
      list.map(({ id }, index) =>
        (index % 2 === 0 ? one : other).call('POST', `/api/v1/incidents/${id}/review`, { body: {} }),
      ),
    )
    const total = incidents + list.length
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(total), soon)
    const ms = [stored - started, performance.now() - stored].map(Math.round)
    console.log(`${total} deliveries by two processes: ${ms[1]} ms after ${ms[0]} ms of logging`)
    expect(new Set(receiver.received.map(({ id }) => id)).size).toBe(total)
    expect(receiver.received).toHaveLength(total)
    for (const { id } of list) {
      const types = receiver.received.filter(({ body }) => body.data.incident?.id === id).map(({ body }) => body.type)
      expect(types).toEqual(on)
    }
    for (const platform of [one, other]) await discard(platform)
    await receiver.stop()
  })
})
