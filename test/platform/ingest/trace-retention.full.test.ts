// What retention leaves of reports: an event that is pruned is forgotten, and one that is held is known.
import type { LogCheckpoint, Retention, TraceAnswer } from '@svc/schemas'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { fast, logSteps, register } from '../../support/log/log.js'
import { withoutJobs } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const day = 86_400_000

describe.skipIf(postgres === null)('reports of engines', () => {
  if (postgres === null) return
  let platform: TestPlatform
  afterAll(() => discard(platform))

  it('are forgotten with their events', async () => {
    const url = postgres.freshDatabase()
    const sql = (text: string) => postgres.psql(url, text)
    let now = Date.parse('2026-01-10T09:00:00Z')
    withoutJobs(sql)
    platform = await startPlatform({ database_url: url, env: fast, clock: () => now++ })
    await register(platform)
    const time = '2026-01-10T09:00:00Z'
    const gap = (gap_id: string) => ({ gap_id, steps: 1, from: time, to: time })
    const post = async (gap_id: string) => {
      const body = { agent_key: 'a', gaps: gap(gap_id) }
      return (await platform.call<TraceAnswer>('POST', '/api/v1/traces', { as: 'key', body })).body.gaps[0]?.status
    }
    await logSteps(platform, 'old', 3)
    expect(await post('old')).toBe(201)
    now += 400 * day
    await logSteps(platform, 'recent', 3)
    expect(await post('recent')).toBe(201)
    await vi.waitFor(async () => {
      const { body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
      expect(body.size).toBe(Number(sql('select size from org_log')))
    }, soon)
    const { body } = await platform.call<Retention>('POST', '/api/v1/retention/prune')
    expect(body.prunes).toHaveLength(1)
    expect(sql("select string_agg(id, ',') from trace_reports")).toBe('recent')
    expect([await post('recent'), await post('old')]).toEqual([200, 201])
  })
})
