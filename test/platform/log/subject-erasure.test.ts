// Erasure by subject: every step that names a person, in all tasks, and no other step.
import type { ErasureResult, LoggedStep, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

const person = 'mia_li_3668'
const legal_basis = 'GDPR Art. 17(1)(b)'
const nested = { data: { subject_id: person } }
const dotted = { 'data.subject_id': person }

describe.skipIf(postgres === null)('erasure by subject', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  let platform: TestPlatform
  const log = async (task_id: string, step: number, properties: object | undefined) => {
    const isOfPerson = properties === nested || properties === dotted
    const body = {
      task_id,
      step,
      step_type: step === 1 ? 'START_NODE' : 'step.resource',
      verb: 'DELETE',
      timestamp: '2026-01-05T09:00:00Z',
      input: { step, ...(isOfPerson && { of: person }) },
      ...(properties && { properties }),
      ...(isOfPerson && { step_name: `of ${person}` }),
    }
    const logged = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body })
    expect([logged.status, logged.body]).toEqual([201, expect.anything()])
  }
  const erase = (subject_id: string) =>
    platform.call<ErasureResult>('POST', '/api/v1/erasures', { body: { subject_id, legal_basis } })
  const verify = async (task_id: string) =>
    (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    for (const task of ['one', 'two']) {
      await log(task, 1, undefined)
      await log(task, 2, nested)
      await log(task, 3, { data: { subject_id: 'another person' } })
      await log(task, 4, dotted)
    }
    await log('three', 1, { data: { subject_id: 4711 } })
    await log('three', 2, { data: { other: person } })
  })
  afterAll(() => discard(platform))

  it('requires either a task or a subject, and rejects an unknown subject', async () => {
    const requests = [
      { task_id: 'one', subject_id: person, legal_basis },
      { legal_basis },
      { subject_id: '', legal_basis },
    ]
    for (const body of requests) expect((await platform.call('POST', '/api/v1/erasures', { body })).status).toBe(422)
    expect((await erase('unknown')).status).toBe(404)
  })

  it('stores subjects as hashes', () => {
    expect(Number(sql('select count(*) from subject_places'))).toBe(7)
    expect(sql('select string_agg(subject::text, $$ $$) from subject_places')).not.toContain(
      Buffer.from(person).toString('hex'),
    )
  })

  it('erases every step that names the subject and lists copies that it cannot reach', async () => {
    const { status, body } = await erase(person)
    expect([status, body.task_id, body.tasks]).toEqual([201, null, 2])
    expect(body.entries).toBeGreaterThanOrEqual(4)
    expect(body.not_reached.join(' ')).toContain('do not name the subject')
    // Steps that do not name the subject stay.
    const left = sql(`select string_agg(e.task_id || ' ' || e.step, ', ' order by e.task_id, e.step) from log_entries e
      join log_payloads p using (org_id, log_index) where p.body is not null`)
    expect(left).toBe('one 1, one 3, three 1, three 2, two 1, two 3')
    expect(sql(`select count(*) from log_payloads where body like '%${person}%'`)).toBe('1')
    for (const table of ['log_records', 'events', 'erasures', 'incidents', 'log_violations', 'subject_places'])
      expect([table, sql(`select count(*) from ${table} x where x::text like '%${person}%'`)]).toEqual([table, '0'])
    expect((await erase(person)).status).toBe(404)
    expect((await erase('4711')).body).toMatchObject({ task_id: null, tasks: 1 })
  })

  it('leaves tasks valid, and bundles name its legal basis', async () => {
    for (const task of ['one', 'two', 'three']) expect((await verify(task)).integrity.ok).toBe(true)
    expect((await verify('one')).payloads).toEqual({ present: 2, erased: 2 })
    const { key } = await checkpointOf(platform, Number(sql('select size from org_log')) - begun)
    const path = auditor.put('bundle.zip', await downloadBundle(platform))
    const verdict = await verifyWithBoth(path, `log ${key}\n`, auditor)
    expect(verdict).toMatchObject({
      valid: true,
      removal_authorizations: expect.arrayContaining([expect.objectContaining({ reason: legal_basis })]),
    })
    expect(verdict.removal_authorizations.length).toBe(3)
  })
})
