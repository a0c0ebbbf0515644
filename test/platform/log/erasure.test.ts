// Erasure of a task: no payload is left, all proofs stay valid, and verdicts distinguish an erased payload from a lost one.
import type { ErasureResult, InclusionProof, LogDetail, LoggedStep, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { whileChanged } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

const secret = 'mia_li_3668'
const request = { task_id: 'private', legal_basis: 'GDPR Art. 17(1)(b)' }
const stepWithSecret = (step: number) => ({
  task_id: 'private',
  step,
  step_type: step === 1 ? 'START_NODE' : 'step.resource',
  verb: 'DELETE',
  timestamp: '2026-01-05T09:00:00Z',
  step_name: `of ${secret}`,
  input: { user: secret },
  output: { [secret]: 1 },
  properties: { 'target.host': `${secret}.example` },
  meta: { note: secret },
})

describe.skipIf(postgres === null)('the erasure of a task', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let platform: TestPlatform
  let logged: LoggedStep
  const verify = async (task_id = 'private') =>
    (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body
  const erase = (body: object, as: 'key' | 'operator' = 'operator') =>
    platform.call<ErasureResult>('POST', '/api/v1/erasures', { as, body })
  /** Tables with a row that holds the secret. */
  const tablesWithSecret = () =>
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
      const { body } = await platform.call<LoggedStep>('POST', '/api/v1/logs', {
        as: 'key',
        body: stepWithSecret(step),
      })
      logged = body
    }
  })
  afterAll(() => discard(platform))

  it('concerns several tables', () => {
    expect(logged.violations.length).toBeGreaterThan(0)
    expect(tablesWithSecret().length).toBeGreaterThanOrEqual(3)
  })

  it.each([
    [{ task_id: 'unknown', legal_basis: 'x' }, 'operator', 404],
    [{ task_id: 'private' }, 'operator', 422],
    [{ task_id: 'private', legal_basis: '' }, 'operator', 422],
    [request, 'key', 403],
  ] as const)('rejects %j of %s with status %i', async (body, as, status) => {
    expect((await erase(body, as)).status).toBe(status)
  })

  it('deletes the secret from every table and lists copies that it cannot reach', async () => {
    const { status, body } = await erase(request)
    expect(status).toBe(201)
    expect(body).toMatchObject({ ...request, erased_by: 'operator:local' })
    expect(body.entries).toBeGreaterThanOrEqual(3)
    expect(body.not_reached.length).toBeGreaterThan(0)
    expect(tablesWithSecret()).toEqual([])
    expect(sql('select count(*) from log_payloads where salts is null and body is null')).toBe('3')
  })

  it('leaves the chain valid and counts the erased payloads', async () => {
    expect(await verify()).toMatchObject({
      integrity: { ok: true },
      sequence: { ok: true },
      entries: 3,
      payloads: { present: 0, erased: 3 },
    })
    const { body } = await platform.call<LogDetail>('GET', `/api/v1/logs/${logged.log_id}`)
    expect(body).toMatchObject({ hash: logged.hash, input: null, step_name: null, salts: {} })
  })

  it('leaves every proof valid', async () => {
    const leaves = Number(sql('select size from org_log'))
    await checkpointOf(platform, leaves - begun)
    const path = `/api/v1/log/proof/inclusion?log_id=${logged.log_id}`
    expect((await platform.call<InclusionProof>('GET', path)).body.leaf_hash).toBe(logged.hash)
    expect(await verify()).toMatchObject({ anchoring: 'whole', integrity: { ok: true } })
  })

  it('recognizes a repeated step, and the task accepts further ones', async () => {
    const again = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body: stepWithSecret(3) })
    expect([again.status, again.body.hash]).toEqual([200, logged.hash])
    const more = await platform.call('POST', '/api/v1/logs', { as: 'key', body: stepWithSecret(4) })
    expect(more.status).toBe(201)
    expect((await verify()).payloads).toEqual({ present: 1, erased: 3 })
  })

  it('applies again to later steps only, and is listed', async () => {
    expect((await erase(request)).body.entries).toBeGreaterThanOrEqual(1)
    expect((await erase(request)).status).toBe(409)
    expect(tablesWithSecret()).toEqual([])
    expect((await verify()).integrity.ok).toBe(true)
    const { body } = await platform.call<{ total: number; erasures: object[] }>(
      'GET',
      '/api/v1/erasures?task_id=private',
    )
    expect([body.total, body.erasures.length]).toEqual([2, 2])
    expect((await platform.call<{ total: number }>('GET', '/api/v1/erasures?task_id=other')).body.total).toBe(0)
  })

  it.each([
    ['a deleted payload', `update log_payloads set salts = null, body = null where log_index = ${begun + 1}`, 'other'],
    [
      'an altered erasure',
      `update log_records set body = replace(body, 'GDPR', 'gdpr') where type = 'erasure'`,
      'private',
    ],
    ['a deleted erasure', `delete from log_records where type = 'erasure'`, 'private'],
    [
      'an erasure with a larger span',
      `update log_records set body = regexp_replace(body, '\\[\\[\\d+', '[[1') where type = 'erasure'`,
      'private',
    ],
  ])('does not cover %s', async (_, change, task_id) => {
    const { integrity } = await whileChanged(sql, ['log_payloads', 'log_records'], change, () => verify(task_id))
    expect(integrity.first_bad).toMatchObject({ code: 'payload_lost' })
    expect((await verify(task_id)).integrity.ok).toBe(true)
  })
})
