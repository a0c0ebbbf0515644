// Retention: old entries are archived and deleted, held ones stay, and all proofs stay valid.
import { createHash } from 'node:crypto'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Hold, InclusionProof, Retention, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { withoutJobs } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

const day = 86_400_000
const start = Date.parse('2026-01-10T09:00:00Z')

describe.skipIf(postgres === null)('retention', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let now = start
  let platform: TestPlatform
  let trust: string
  const get = async <T>(path: string) => (await platform.call<T>('GET', path)).body
  const post = <T = Record<string, unknown>>(path: string, body?: object) =>
    platform.call<T>('POST', path, body === undefined ? {} : { body })
  const prune = async () => (await post<Retention>('/api/v1/retention/prune')).body
  const signed = async () => checkpointOf(platform, Number(sql('select size from org_log')) - begun)
  const archives = () => readdirSync(join(platform.data_dir, 'archive'))
  beforeAll(async () => {
    withoutJobs(sql)
    platform = await startPlatform({ database_url: url, env: fast, clock: () => now++ })
    await register(platform)
    await logSteps(platform, 'old', 20)
    await logSteps(platform, 'held', 5)
    await logSteps(platform, 'long', 5)
    now = start + 300 * day
    await logSteps(platform, 'recent', 10)
    await platform.call('POST', '/api/v1/logs', {
      as: 'key',
      body: { task_id: 'long', step: 6, step_type: 'END_NODE', timestamp: '2026-11-06T09:00:00Z' },
    })
    trust = `log ${(await signed()).key}\n`
  })
  afterAll(() => discard(platform))

  it('is a year by default and at least 184 days', async () => {
    expect(await get('/api/v1/retention')).toEqual({ retention_days: 365, prunes: [] })
    for (const retention_days of [183, 0, -1, 1.5, '200'])
      expect((await post('/api/v1/retention', { retention_days })).status).toBe(422)
    expect((await post('/api/v1/retention', { retention_days: 184 })).body).toEqual({ retention_days: 184, prunes: [] })
    expect((await post('/api/v1/retention', { retention_days: 184 })).status).toBe(200)
    expect(sql("select count(*) from events where kind = 'retention.changed'")).toBe('1')
    await signed()
  })

  it('deletes nothing while the whole log is on hold', async () => {
    const { status, body } = await post<Hold>('/api/v1/holds', { reason: 'a lawsuit' })
    expect(status).toBe(201)
    expect(await prune()).toMatchObject({ prunes: [] })
    const erased = await post('/api/v1/erasures', { task_id: 'old', legal_basis: 'x' })
    expect([erased.status, erased.body.detail]).toEqual([409, expect.stringContaining('on hold')])
    expect((await post<Hold>(`/api/v1/holds/${body.id}/release`)).body).toMatchObject({ released_by: 'operator:local' })
    expect((await post(`/api/v1/holds/${body.id}/release`)).status).toBe(409)
    expect((await post('/api/v1/holds/hold_none/release')).status).toBe(404)
    expect(await get('/api/v1/holds?on=true')).toMatchObject({ holds: [], total: 0 })
    expect(await get('/api/v1/holds')).toMatchObject({ total: 1 })
  })

  it('deletes nothing from a log that does not verify', async () => {
    await post('/api/v1/holds', { task_id: 'held', reason: 'an investigation' })
    await signed()
    sql(`update log_payloads set body = replace(body, '{"index":3}', '{"index":4}')`)
    const { status, body } = await post('/api/v1/retention/prune')
    expect([status, body.detail]).toEqual([409, expect.stringContaining('nothing is pruned')])
    expect(Number(sql('select count(*) from log_entries'))).toBe(41)
    sql(`update log_payloads set body = replace(body, '{"index":4}', '{"index":3}') where body like '%"index":4%' and log_index in (
      select log_index from log_entries where step = 4)`)
  })

  it('archives whole old tasks and then deletes them', async () => {
    // An event from before events had leaves: no archive holds it.
    sql(`insert into events (org_id, id, at, actor_kind, actor_id, kind, subject_kind, subject_id, data)
      select org_id, 'evt_early', '2026-01-01T00:00:00Z', 'system', 'x', 'agent.registered', 'agent', 'x', '{}' from org_log`)
    const { prunes } = await prune()
    expect(sql(`select count(*) from events where id = 'evt_early'`)).toBe('1')
    expect(prunes).toMatchObject([{ pruned_by: 'operator:local', legal_basis: 'retention of 184 days' }])
    // 20 steps and four of the first events: the facts of the agent, the open incident and its event stay.
    expect(prunes[0]?.entries).toBe(20 + 4)
    expect(sql(`select string_agg(distinct task_id, ' ' order by task_id) from log_entries`)).toBe('held long recent')
    const [name = ''] = archives()
    expect([name, archives().length]).toEqual([prunes[0]?.archive, 1])
    const path = join(platform.data_dir, 'archive', name)
    expect(createHash('sha256').update(readFileSync(path)).digest('hex')).toBe(prunes[0]?.archive_sha256)
    copyFileSync(path, join(auditor.folder, 'archive.zip'))
    const verdict = await verifyWithBoth(join(auditor.folder, 'archive.zip'), trust, auditor)
    expect(verdict).toMatchObject({ valid: true, entries: { step: 30 }, payloads: { erased: 0, pruned: 0 } })
    expect((await platform.call('GET', '/api/v1/tasks/old/verify')).status).toBe(404)
  })

  it('leaves the proofs of the other entries valid', async () => {
    await signed()
    for (const task of ['held', 'long', 'recent']) {
      const verdict = await get<Verification>(`/api/v1/tasks/${task}/verify`)
      expect(verdict).toMatchObject({ integrity: { ok: true }, anchoring: 'whole' })
    }
    const proof = await get<InclusionProof>('/api/v1/log/proof/inclusion?log_index=7')
    expect(proof.leaf_hash).toBe(sql('select leaf_hash from log_leaves where log_index = 7'))
    const path = auditor.put('bundle.zip', await downloadBundle(platform))
    expect(await verifyWithBoth(path, trust, auditor)).toMatchObject({
      valid: true,
      payloads: { pruned: 24 },
      removal_authorizations: [{ type: 'prune', by: 'operator:local', reason: 'retention of 184 days', entries: 24 }],
    })
    const late = auditor.put('late.zip', await downloadBundle(platform, '?from=2026-10-01T00:00:00Z'))
    expect(await verifyWithBoth(late, trust, auditor)).toMatchObject({ valid: true, payloads: { pruned: 0 } })
  })

  it('does not authorize the deletion of other entries', async () => {
    sql('create table kept_e as table log_entries; delete from log_entries where task_id = $$held$$')
    const path = auditor.put('bundle.zip', await downloadBundle(platform))
    const codes = (await verifyWithBoth(path, trust, auditor)).findings.map(({ code }) => code)
    expect([...new Set(codes)]).toEqual(['payload_mismatch', 'record_lost'])
    sql('insert into log_entries table kept_e except table log_entries; drop table kept_e')
  })

  it('deletes the other entries after the release of their hold, each in one archive', async () => {
    expect((await prune()).prunes.length).toBe(1)
    const { holds } = await get<{ holds: Hold[] }>('/api/v1/holds?on=true&task_id=held')
    expect((await post(`/api/v1/holds/${holds[0]?.id}/release`)).status).toBe(200)
    now = start + 500 * day
    await logSteps(platform, 'newest', 3)
    await signed()
    const { prunes } = await prune()
    expect(prunes.length).toBe(2)
    expect(sql(`select string_agg(distinct task_id, ' ') from log_entries`)).toBe('newest')
    const path = join(platform.data_dir, 'archive', prunes[0]?.archive ?? '')
    expect(await verifyWithBoth(path, trust, auditor)).toMatchObject({ valid: true, entries: { step: 11 } })
    await signed()
    const whole = auditor.put('bundle.zip', await downloadBundle(platform))
    expect(await verifyWithBoth(whole, trust, auditor)).toMatchObject({ valid: true, entries: { step: 3 } })
    expect((await logSteps(platform, 'old', 2)).results.length).toBe(2)
    expect((await get<Verification>('/api/v1/tasks/old/verify')).integrity.ok).toBe(true)
  })
})
