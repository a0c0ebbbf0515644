// API keys: shown once, limited by scope and time, and owned by the workspace.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { ApiKeyList, MadeApiKey, Problem, RegisteredAgent } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform, startProcess } from '../../support/server/process.js'

const postgres = await sharedPostgres()
let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
let owner: SignedIn
const make = async (body: object, by = owner) =>
  (await by.call<MadeApiKey & Problem>('POST', '/auth/api-keys', body)).body
const register = (as: string, agent_key = 'a') =>
  platform.call<RegisteredAgent & Problem>('POST', '/api/v1/agents', { as, body: { agent_key } })
const listed = async (id: string) =>
  (await owner.call<ApiKeyList>('GET', '/auth/api-keys')).body.api_keys.find((key) => key.id === id)

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url }, clock: () => now })
  owner = await signedIn(platform, mails, 'owner@example.org')
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('an API key', () => {
  it('works, and its secret is returned once', async () => {
    const { key, api_key } = await make({ name: 'first' })
    expect(key).toMatch(/^SvcKey-[A-Za-z0-9_-]{43}$/)
    expect((await register(key)).status).toBe(201)
    expect(JSON.stringify(await listed(api_key.id))).not.toContain(key)
    expect(await listed(api_key.id)).toMatchObject({ name: 'first', scopes: ['ingest', 'read'], revoked_at: null })
    expect((await listed(api_key.id))?.last_used_at).not.toBeNull()
  })

  it('is limited to its scopes', async () => {
    const [ingest, read] = [await make({ name: 'i', scopes: ['ingest'] }), await make({ name: 'r', scopes: ['read'] })]
    expect((await register(ingest.key)).status).toBe(201)
    expect((await register(read.key)).status).toBe(403)
    const effective = (as: string) => platform.call('GET', '/api/v1/policies/effective?agent_key=a', { as })
    expect((await effective(ingest.key)).status).toBe(403)
    expect((await effective(read.key)).status).toBe(404)
  })

  it.each([
    {},
    { name: '' },
    { name: 'x', scopes: [] },
    { name: 'x', scopes: ['admin'] },
    { name: 'x', scopes: ['read', 'read'] },
    { name: 'x', expires_at: 'tomorrow' },
    { name: 'x', expires_at: '2026-02-01T00:00:00Z' },
    { name: 'x', key: 'SvcKey-mine' },
  ])('is not created from %j', async (body) => {
    expect((await owner.call('POST', '/auth/api-keys', body)).status).toBe(422)
  })

  it('expires', async () => {
    const { key } = await make({ name: 'short', expires_at: new Date(now + 60_000).toISOString() })
    expect((await register(key)).status).toBe(201)
    now += 60_000
    expect((await register(key)).status).toBe(401)
  })

  it('is rejected at once after it is revoked, and cannot be restored', async () => {
    const { key, api_key } = await make({ name: 'lost' })
    expect((await register(key)).status).toBe(201)
    expect((await owner.call('POST', `/auth/api-keys/${api_key.id}/revoke`)).status).toBe(200)
    expect((await register(key)).status).toBe(401)
    expect((await owner.call('POST', `/auth/api-keys/${api_key.id}/revoke`)).status).toBe(409)
    expect((await owner.call('POST', `/auth/api-keys/${api_key.id}/roll`)).status).toBe(409)
  })

  it('is not restored by the next start after it is rolled or revoked', async () => {
    const SVC_SEED_API_KEY = `SvcKey-${'s'.repeat(43)}`
    const first = await startPlatform({ env: { SVC_SEED_API_KEY } })
    const status = async (platform: TestPlatform, as: string) =>
      (await platform.call('POST', '/api/v1/agents', { as, body: { agent_key: 'a' } })).status
    expect([await status(first, first.api_key), await status(first, SVC_SEED_API_KEY)]).toEqual([201, 201])
    const { api_keys } = (await first.call<ApiKeyList>('GET', '/auth/api-keys')).body
    const [one, other] = api_keys
    expect((await first.call('POST', `/auth/api-keys/${one?.id}/roll`)).status).toBe(200)
    expect((await first.call('POST', `/auth/api-keys/${other?.id}/revoke`)).status).toBe(200)
    const again = await first.restart()
    expect([await status(again, first.api_key), await status(again, SVC_SEED_API_KEY)]).toEqual([401, 401])
    await discard(again)
  })

  it('gets another secret when it is rolled, and its agents keep their ids', async () => {
    const { key, api_key } = await make({ name: 'rolled' })
    const before = await register(key)
    const rolled = (await owner.call<MadeApiKey>('POST', `/auth/api-keys/${api_key.id}/roll`)).body
    expect((await register(key)).status).toBe(401)
    const after = await register(rolled.key)
    expect([after.status, after.body.agent_id]).toEqual([200, before.body.agent_id])
    expect(after.body.registration_status).toBe('updated')
  })

  it('is limited to SVC_RATE_LIMIT_KEY requests in a minute', async () => {
    const limited = await startPlatform({ env: { SVC_RATE_LIMIT_KEY: '3' }, clock: () => now })
    const ask = () => limited.call<Problem>('GET', '/api/v1/log/checkpoint', { as: 'key' })
    for (let count = 0; count < 3; count++) expect((await ask()).status).toBe(404)
    const rejected = await ask()
    expect([rejected.status, rejected.body.code, rejected.headers.get('retry-after')]).toEqual([
      429,
      'RATE_LIMITED',
      '20',
    ])
    now += 20_000
    expect((await ask()).status).toBe(404)
    await discard(limited)
  })

  it('stays valid when its creator leaves', async () => {
    const admin = await signedIn(platform, mails, 'admin@example.org')
    await join(owner, admin, owner.org_id, 'admin')
    const { key } = await make({ name: 'of an admin' }, admin)
    const before = await register(key)
    await owner.call('POST', `/auth/workspaces/${owner.org_id}/members/${admin.id}/remove`)
    now += 5_001
    expect((await register(key)).body.agent_id).toBe(before.body.agent_id)
  })
})

describe.skipIf(postgres === null)('the first key', () => {
  it('is not printed once it is revoked', async () => {
    const url = postgres?.freshDatabase() ?? ''
    const data_dir = mkdtempSync(path.join(tmpdir(), 'svc-first-key-'))
    const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: data_dir, SVC_PORT: '0' }
    const first = await startProcess(env)
    await first.terminate()
    expect(first.printed).toContain('Try it:')
    postgres?.psql(url, 'update api_keys set revoked_at = now()')
    const { printed, terminate } = await startProcess(env)
    await terminate()
    expect(printed).toContain('rolled or revoked: create one with `npx --no-install svc key create NAME`')
    expect(printed).not.toContain('Try it:')
    rmSync(data_dir, { recursive: true })
  })
})

describe.skipIf(postgres === null)('the registration cap', () => {
  if (postgres === null) return
  it('waitlists later accounts until they are released', async () => {
    const database_url = postgres.freshDatabase()
    // The owner of the first workspace is the first account.
    const env = {
      SVC_SMTP_URL: mails.url,
      SVC_REGISTRATION_CAP: '2',
      SVC_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('hex'),
    }
    const full = await startPlatform({ database_url, env, clock: () => now })
    const first = await signedIn(full, mails, 'first@example.org')
    const late = await signedIn(full, mails, 'late@example.org')
    expect([(await first.me()).is_capped, (await late.me()).is_capped]).toEqual([false, true])
    expect((await first.call('GET', '/api/v1/agents')).status).toBe(200)
    const rejected = await late.call<Problem>('GET', '/api/v1/agents')
    expect([rejected.status, rejected.body.detail]).toEqual([403, expect.stringContaining('waitlisted')])
    expect((await late.call('POST', '/auth/api-keys', { name: 'x' })).status).toBe(403)
    const given = { SVC_DATABASE_URL: database_url, SVC_DATA_DIR: full.data_dir }
    const done = await runPlatform(['admin', 'release', 'Late@example.org'], given)
    expect([done.code, done.stdout]).toEqual([0, 'Late@example.org: released\n'])
    expect((await runPlatform(['admin', 'release', 'late@example.org'], given)).code).toBe(1)
    expect((await late.call('GET', '/api/v1/agents')).status).toBe(200)
    await discard(full)
  })
})
