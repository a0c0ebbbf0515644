// The number of reports that a workspace keeps.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkpointOf, fast, logSteps } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('a workspace with 1,000 reports', () => {
  const period = { from: '2026-03-01T00:00:00Z', to: '2026-03-02T00:00:00Z' }
  let now = Date.parse('2026-03-01T09:00:00Z')
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startPlatform({ env: fast, clock: () => now++ })
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
    await logSteps(platform, 'task', 3)
    now = Date.parse('2026-03-03T12:00:00Z')
    await logSteps(platform, 'later', 3)
    await checkpointOf(platform, 6)
  })
  afterAll(() => discard(platform))

  it('returns those that it has, and adds no other until one is deleted', async () => {
    const request = (format: string) =>
      platform.call<{ id: string; detail: string }>('POST', '/api/v1/reports', { body: { ...period, format } })
    const first = await request('json')
    expect(first.status).toBe(202)
    const url = platform.env.SVC_DATABASE_URL ?? ''
    postgres?.psql(
      url,
      `insert into reports (org_id, id, number, format, period_from, period_to, cut_off, root, status, requested_by, created_at)
       select org_id, 'rep_test' || n, 1000 + n, 'pdf', period_from, period_to, cut_off, root, 'ready', requested_by, created_at
       from reports, generate_series(1, 999) n`,
    )
    expect((await request('json')).body.id).toBe(first.body.id)
    const { status, body } = await request('xml')
    expect([status, body.detail]).toEqual([409, expect.stringContaining('at most 1000 reports')])
    postgres?.psql(url, `delete from reports where id = 'rep_test1'`)
    expect((await request('xml')).status).toBe(202)
  })
})
