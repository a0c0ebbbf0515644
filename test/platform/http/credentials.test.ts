// API keys as credentials: spelling, end, scopes, and isolation of organizations and of other keys.
import { createHash } from 'node:crypto'
import type { Problem, RegisteredAgent, Verification } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { newClock, startWithAgent, stepOf } from './booker.js'

const postgres = await sharedPostgres()
const clock = newClock()

describe.skipIf(postgres === null)('an API key', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  beforeAll(async () => {
    platform = await startWithAgent(clock, url)
    await platform.call('POST', '/api/v1/logs', { as: 'key', body: stepOf('mine', 1, 'START_NODE') })
    await platform.call('POST', '/api/v1/logs', { as: 'key', body: stepOf('mine', 2, 'END_NODE') })
  })
  afterAll(() => discard(platform))

  let keys = 0
  const org = () => postgres.psql(url, 'select org_id from organizations order by created_at limit 1')
  /** A key in the database, by its hash only. */
  const newKey = (scopes = 'ingest,read', org_id = org()) => {
    const key = `SvcKey-${String(keys++).padStart(43, 'k')}`
    const hash = `'\\x${createHash('sha256').update(key).digest('hex')}'::bytea`
    postgres.psql(
      url,
      `insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at)
       values ('${org_id}', 'key_${keys}', ${hash}, ${hash}, 'test', '{${scopes}}', now())`,
    )
    return {
      key,
      change: (set: string) => postgres.psql(url, `update api_keys set ${set} where key_id = 'key_${keys}'`),
    }
  }
  const register = (as: string) =>
    platform.call<RegisteredAgent & Problem>('POST', '/api/v1/agents', { as, body: { agent_key: 'x' } })

  it('is accepted with any case of the scheme', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const headers = { authorization: `${scheme} ${platform.operator_token}` }
      expect((await platform.call('GET', '/api/v1/agents', { as: null, headers })).status).toBe(200)
    }
    for (const authorization of [`Basic ${platform.operator_token}`, `Bearer  ${platform.operator_token}`, 'Bearer'])
      expect((await platform.call('GET', '/api/v1/agents', { as: null, headers: { authorization } })).status).toBe(401)
  })

  it('that is missing is told from an operator token in the message', async () => {
    const asked = async (as: string) => {
      const { status, body } = await platform.call<Problem>('GET', '/auth/me', { as })
      return [status, body.detail]
    }
    expect(await asked(platform.operator_token)).toEqual([403, expect.stringContaining('sign in with `svc login`')])
    expect((await asked(platform.operator_token)).join()).not.toContain('API key')
    expect(await asked(newKey().key)).toEqual([403, expect.stringContaining('not an API key')])
    expect(await asked('SvcLocal-wrong')).toEqual([
      401,
      expect.stringMatching(/^the operator token .*`credentials\.json`/),
    ])
    expect(await asked('SvcKey-wrong')).toEqual([401, expect.stringContaining('svc key create NAME')])
  })

  it('is rejected within five seconds after it is revoked', async () => {
    const { key, change } = newKey()
    expect((await register(key)).status).toBe(201)
    change('revoked_at = now()')
    clock.now += 5001
    const { status, headers } = await register(key)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="svc"'])
  })

  it('is rejected from the moment it expires, also if it is cached', async () => {
    const { key, change } = newKey()
    change(`expires_at = '${new Date(clock.now + 1000).toISOString()}'`)
    expect((await register(key)).status).toBe(201)
    clock.now += 999
    expect((await register(key)).status).toBe(200)
    clock.now += 1
    expect((await register(key)).status).toBe(401)
  })

  it('allows the calls of its scopes only', async () => {
    const reading = newKey('read').key
    const rejected = await register(reading)
    expect([rejected.status, rejected.body.code, rejected.body.detail]).toEqual([
      403,
      'FORBIDDEN',
      'this API key lacks the scope `ingest`',
    ])
    const writing = newKey('ingest').key
    expect((await register(writing)).status).toBe(201)
    const asked = await platform.call<Problem>('GET', '/api/v1/tasks/mine/verify', { as: writing })
    expect([asked.status, asked.body.detail]).toEqual([403, 'this API key lacks the scope `read`'])
  })

  it('of another organization has no access', async () => {
    postgres.psql(
      url,
      `insert into organizations (org_id, name, kind, created_at) values ('org_bb', 'b', 'shared', now());
       insert into org_log (org_id) values ('org_bb')`,
    )
    const { key } = newKey('ingest,read', 'org_bb')
    const agents = async () => (await platform.call<{ total: number }>('GET', '/api/v1/agents')).body.total
    const before = await agents()
    expect((await register(key)).status).toBe(201)
    for (const path of ['/api/v1/tasks/mine/verify', '/api/v1/tasks/mine/chain'])
      expect((await platform.call('GET', path, { as: key })).status).toBe(404)
    // The name of a task belongs to its organization: the other one has its own, which begins at its first entry.
    const theirs = await platform.call('POST', '/api/v1/logs', {
      as: key,
      body: { ...stepOf('mine', 1, 'START_NODE'), agent_key: 'x' },
    })
    expect([theirs.status, theirs.body.seq, theirs.body.log_index]).toEqual([201, 1, 4])
    const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/mine/verify', { as: 'key' })
    expect(body).toMatchObject({ valid: true, entries: 2 })
    expect(await agents()).toBe(before)
  })

  it.each([
    ['the head of its task is gone', "delete from task_heads where task_id = 'mine'"],
    ['the head names another agent', "update task_heads set agent_id = 'ag_else' where task_id = 'mine'"],
    [
      'the first entry names another agent',
      "update log_entries set agent_id = 'ag_else' where task_id = 'mine' and seq = 1",
    ],
    ['all entries are gone', "delete from log_entries where task_id = 'mine'"],
  ])('gets a verdict on its own tampered task when %s', async (_, change) => {
    const { key } = newKey()
    await register(key)
    postgres.psql(url, 'create table kept_heads as table task_heads; create table kept_entries as table log_entries')
    postgres.psql(url, change)
    const own = await platform.call<Verification>('GET', '/api/v1/tasks/mine/verify', { as: 'key' })
    const other = await platform.call('GET', '/api/v1/tasks/mine/verify', { as: key })
    postgres.psql(
      url,
      `begin; delete from task_heads; insert into task_heads table kept_heads; drop table kept_heads;
       delete from log_entries; insert into log_entries table kept_entries; drop table kept_entries; commit`,
    )
    expect([own.status, own.body.valid, own.body.integrity.ok, other.status]).toEqual([200, false, false, 404])
  })

  it('has no access to tasks of another API key', async () => {
    const { key } = newKey()
    expect((await platform.call('GET', '/api/v1/tasks/mine/verify', { as: 'key' })).status).toBe(200)
    for (const path of ['/api/v1/tasks/mine/verify', '/api/v1/tasks/mine/chain'])
      expect((await platform.call('GET', path, { as: key })).status).toBe(404)
    expect((await platform.call('GET', '/api/v1/logs', { as: 'key' })).status).toBe(403)
    const body = { intended: { step_type: 'step.exec' }, context: { agent_id: 'booker', task_id: 'mine' } }
    expect((await platform.call('POST', '/api/v1/engine/evaluate', { as: key, body })).status).toBe(404)
  })
})
