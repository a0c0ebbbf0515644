// What a task carried can be erased: nothing of it is left, everything else still holds, and loss is told from erasure.
import type { ErasureResult, InclusionProof, LogDetail, LoggedStep, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'

const postgres = await sharedPostgres()

const secret = 'mia_li_3668'
const request = { task_id: 'private', legal_basis: 'GDPR Art. 17(1)(b)' }
const carrying = (step: number) => ({
  ...{ task_id: 'private', step, step_type: step === 1 ? 'START_NODE' : 'step.resource', verb: 'DELETE' },
  ...{ timestamp: '2026-01-05T09:00:00Z', step_name: `of ${secret}`, input: { user: secret }, output: { [secret]: 1 } },
  ...{ properties: { 'target.host': `${secret}.example` }, meta: { note: secret } },
})

describe.skipIf(postgres === null)('erasing a task', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let platform: TestPlatform
  let logged: LoggedStep
  const verify = async (task_id = 'private') =>
    (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body
  const erase = (body: object, as: 'key' | 'operator' = 'operator') =>
    platform.call<ErasureResult>('POST', '/api/v1/erasures', { as, body })
  /** Tables in which a row holds the secret. */
  const holding = () =>
    sql(
      `select string_agg(quote_ident(relname), ' ' order by relname) from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    )
      .split(' ')
      .filter((table) => sql(`select count(*) from ${table} x where x::text like '%${secret}%'`) !== '0')

  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'other', 3)
    for (const step of [1, 2, 3]) {
      const { body } = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body: carrying(step) })
      logged = body
    }
  })
  afterAll(() => discard(platform))

  it('finds what it must erase in more places than one', () => {
    expect(logged.violations.length).toBeGreaterThan(0)
    expect(holding().length).toBeGreaterThanOrEqual(3)
  })

  it.each([
    [{ task_id: 'nobody', legal_basis: 'x' }, 'operator', 404],
    [{ task_id: 'private' }, 'operator', 422],
    [{ task_id: 'private', legal_basis: '' }, 'operator', 422],
    [request, 'key', 403],
  ] as const)('refuses %j of %s', async (body, as, status) => {
    expect((await erase(body, as)).status).toBe(status)
  })

  it('leaves nothing of it, and says where copies may be', async () => {
    const { status, body } = await erase(request)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...request, erased_by: 'operator:local' })
    expect(body.entries).toBeGreaterThanOrEqual(3)
    expect(body.not_reached.length).toBeGreaterThan(0)
    expect(holding()).toEqual([])
    expect(sql('select count(*) from log_payloads where salts is null and body is null')).toBe('3')
  })

  it('keeps the chain whole, and counts what is erased', async () => {
    expect(await verify()).toMatchObject({
      ...{ integrity: { ok: true }, sequence: { ok: true } },
      ...{ entries: 3, payloads: { present: 0, erased: 3 } },
    })
    const { body } = await platform.call<LogDetail>('GET', `/api/v1/logs/${logged.log_id}`)
    expect(body).toMatchObject({ hash: logged.hash, input: null, step_name: null, salts: {} })
  })

  it('keeps every proof, and goes on being signed for', async () => {
    const leaves = Number(sql('select size from org_log'))
    await checkpointOf(platform, leaves - begun)
    const path = `/api/v1/log/proof/inclusion?log_id=${logged.log_id}`
    expect((await platform.call<InclusionProof>('GET', path)).body.leaf_hash).toBe(logged.hash)
    expect(await verify()).toMatchObject({ anchoring: 'whole', integrity: { ok: true } })
  })

  it('takes the same step again for the one it had, and the task may go on', async () => {
    const again = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body: carrying(3) })
    expect([again.status, again.body.hash]).toEqual([200, logged.hash])
    const more = await platform.call('POST', '/api/v1/logs', { as: 'key', body: carrying(4) })
    expect(more.status).toBe(201)
    expect((await verify()).payloads).toEqual({ present: 1, erased: 3 })
  })

  it('is done once, again for what came since, and listed', async () => {
    expect((await erase(request)).body.entries).toBeGreaterThanOrEqual(1)
    expect((await erase(request)).status).toBe(409)
    expect(holding()).toEqual([])
    expect((await verify()).integrity.ok).toBe(true)
    const { body } = await platform.call<{ total: number; erasures: object[] }>(
      'GET',
      '/api/v1/erasures?task_id=private',
    )
    expect([body.total, body.erasures.length]).toEqual([2, 2])
    expect((await platform.call<{ total: number }>('GET', '/api/v1/erasures?task_id=other')).body.total).toBe(0)
  })

  it.each([
    [
      'a payload that is gone without it',
      `update log_payloads set salts = null, body = null where log_index = ${begun + 1}`,
      'other',
    ],
    [
      'an erasure somebody altered',
      `update log_records set body = replace(body, 'GDPR', 'gdpr') where type = 'erasure'`,
      'private',
    ],
    ['an erasure that is gone', `delete from log_records where type = 'erasure'`, 'private'],
    [
      'an erasure that was stretched',
      `update log_records set body = regexp_replace(body, '\\[\\[\\d+', '[[1') where type = 'erasure'`,
      'private',
    ],
  ])('is not %s', async (_, change, task_id) => {
    sql(`create table kept_p as table log_payloads; create table kept_r as table log_records; ${change}`)
    expect((await verify(task_id)).integrity.first_bad).toMatchObject({ code: 'payload_lost' })
    sql(`begin; delete from log_payloads; insert into log_payloads table kept_p; delete from log_records;
      insert into log_records table kept_r; drop table kept_p, kept_r; commit`)
    expect((await verify(task_id)).integrity.ok).toBe(true)
  })
})
