// Forged rows of prunes in the database: an entry is deleted only when a verified archive holds it.
import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Retention } from '@svc/schemas'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
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

describe.skipIf(postgres === null)('a forged row of a prune', () => {
  if (postgres === null) return
  let url = ''
  let now = start
  let platform: TestPlatform
  let trust: string
  const sql = (text: string) => postgres.psql(url, text)
  const folder = () => join(platform.data_dir, 'archive')
  const archives = () => readdirSync(folder()).filter((name) => /^org_.*[.]zip$/.test(name))
  const prune = () => platform.call<Retention>('POST', '/api/v1/retention/prune')
  const signed = async () => checkpointOf(platform, Number(sql('select size from org_log')) - begun)
  const steps = () => sql(`select coalesce(string_agg(distinct task_id, ' ' order by task_id), '') from log_entries`)
  const claim = (archive: string, sha256: string) =>
    sql(`insert into prunes (org_id, id, before, entries, archive, archive_sha256, pruned_by, pruned_at, legal_basis)
      select org_id, 'prn_forged', '2027-12-31T00:00:00Z', 1, '${archive}', '${sha256}', 'system:retention', now(), 'x'
      from org_log`)
  const sha256Of = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
  const stepsIn = async (name: string) => {
    const verdict = await verifyWithBoth(join(folder(), name), trust, auditor)
    expect(verdict.valid).toBe(true)
    return verdict.entries.step ?? 0
  }

  /** A log with a pruned old task, a held old task, and an old task that is not pruned yet. */
  beforeEach(async () => {
    url = postgres.freshDatabase()
    now = start
    withoutJobs(sql)
    platform = await startPlatform({ database_url: url, env: fast, clock: () => now++ })
    await register(platform)
    await logSteps(platform, 'gone', 4)
    await logSteps(platform, 'held', 3)
    const hold = await platform.call<{ id: string }>('POST', '/api/v1/holds', {
      body: { task_id: 'held', reason: 'x' },
    })
    now = start + 400 * day
    await logSteps(platform, 'old', 5)
    trust = `log ${(await signed()).key}\n`
    expect((await prune()).status).toBe(200)
    await signed()
    now = start + 800 * day
    await logSteps(platform, 'new', 2)
    await platform.call('POST', `/api/v1/holds/${hold.body.id}/release`)
    await signed()
    return () => discard(platform)
  })

  it.each<[string, () => void]>([
    ['a missing file', () => claim('org-before.zip', '0'.repeat(64))],
    ['another file', () => claim(archives()[0] ?? '', '0'.repeat(64))],
    [
      'a file that is not a bundle',
      () => {
        writeFileSync(join(folder(), 'forged.zip'), 'no zip')
        claim('forged.zip', sha256Of(join(folder(), 'forged.zip')))
      },
    ],
    ['an archive of older entries', () => claim(archives()[0] ?? '', sha256Of(join(folder(), archives()[0] ?? '')))],
    [
      'a file outside the archive',
      () => {
        const outside = join(platform.data_dir, 'outside.zip')
        copyFileSync(join(folder(), archives()[0] ?? ''), outside)
        claim('../outside.zip', sha256Of(outside))
      },
    ],
  ])('that names %s does not prevent an archive', async (_, forge) => {
    const [before = ''] = archives()
    forge()
    expect((await prune()).status).toBe(200)
    expect(steps()).toBe('new')
    const made = archives().filter((name) => name !== before)
    expect([await stepsIn(before), made.length, await stepsIn(made[0] ?? '')]).toEqual([7, 1, 5])
  })

  it('does not replace a missing archive: its entries are archived again', async () => {
    const [before = ''] = archives()
    rmSync(join(folder(), before))
    expect((await prune()).status).toBe(200)
    expect(steps()).toBe('new')
    expect(await stepsIn(archives()[0] ?? '')).toBe(8)
  })

  it('does not shorten the minimum retention of half a year', async () => {
    sql('alter table org_log drop constraint if exists org_log_retention_days_check')
    sql('update org_log set retention_days = 0')
    now = start + 900 * day
    expect((await prune()).status).toBe(200)
    expect(steps()).toBe('new')
  })
})
