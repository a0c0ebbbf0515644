// Retention of a log that was not pruned for a long time: its entries are archived in several files.
import { join } from 'node:path'
import type { Retention } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { withoutJobs } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

const day = 86_400_000
const start = Date.parse('2026-01-10T09:00:00Z')

describe.skipIf(postgres === null)('a long period that was not pruned', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let now = start
  let platform: TestPlatform
  beforeAll(async () => {
    withoutJobs((text) => postgres.psql(url, text))
    const env = { ...fast, SVC_ARCHIVE_ENTRIES: '12' }
    platform = await startPlatform({ database_url: url, env, clock: () => now++ })
    await register(platform)
  })
  afterAll(() => discard(platform))

  it('is archived in several consecutive files, with held entries', async () => {
    await logSteps(platform, 'held', 10)
    for (let count = 0; count < 30; count++) await logSteps(platform, `old ${count}`, 1)
    const body = { task_id: 'held', reason: 'an investigation' }
    expect((await platform.call('POST', '/api/v1/holds', { body })).status).toBe(201)
    now = start + 400 * day
    await logSteps(platform, 'new', 1)
    const size = Number(postgres.psql(url, 'select size from org_log'))
    const trust = `log ${(await checkpointOf(platform, size - begun)).key}\n`
    const { prunes } = (await platform.call<Retention>('POST', '/api/v1/retention/prune')).body
    // Events but that of the agent, which is kept, 40 steps and the event of the hold: twelve at a time.
    const ordered = prunes.toReversed()
    expect(ordered.map(({ entries }) => entries)).toEqual([4, 7, 12, 11])
    let [steps, from] = [0, '']
    for (const { archive, before } of ordered) {
      const path = join(platform.data_dir, 'archive', archive)
      const verdict = await verifyWithBoth(path, trust, auditor)
      expect([verdict.valid, verdict.period.from ?? '', verdict.period.to]).toEqual([true, from, before])
      steps += verdict.entries.step ?? 0
      from = before
    }
    expect(steps).toBe(40)
    expect(postgres.psql(url, `select string_agg(distinct task_id, ' ') from log_entries`)).toBe('held new')
    // The event of the hold stays as long as the hold.
    expect(postgres.psql(url, `select count(*) from events where kind = 'hold.placed'`)).toBe('1')
    expect((await platform.call<Retention>('POST', '/api/v1/retention/prune')).body.prunes.length).toBe(4)
  })
})
