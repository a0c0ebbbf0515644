// Sealed secrets: the database alone does not reveal them, and they survive a change of the encryption key.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import type { ActionTest, ErasureResult } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { createSealer } from '../../../platform/secrets/seal.js'
import { makeAction } from '../../support/http/actions.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'

const postgres = await sharedPostgres()

const [one, two] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const secret = createHash('sha256').update('a secret').digest()

describe('a sealed secret', () => {
  it('opens only in its context and with the key that sealed it', () => {
    const sealed = createSealer([one]).seal('subject_key org_1', secret) ?? ''
    expect(createSealer([one]).open('subject_key org_1', sealed)).toEqual(secret)
    expect(createSealer([two, one]).open('subject_key org_1', sealed)).toEqual(secret)
    expect([createSealer([one, two]), createSealer([two, one])].map((one) => one.isCurrent(sealed))).toEqual([
      true,
      false,
    ])
    expect(() => createSealer([one]).open('subject_key org_2', sealed)).toThrow()
    for (const keys of [[two], []])
      expect(() => createSealer(keys).open('subject_key org_1', sealed)).toThrow(/SVC_ENCRYPTION_KEY/)
    expect(createSealer([]).seal('subject_key org_1', secret)).toBeNull()
  })

  it('does not contain the secret, and differs each time', () => {
    const sealed = Array.from({ length: 50 }, () => createSealer([one]).seal('p', secret) ?? '')
    expect(new Set(sealed).size).toBe(50)
    for (const text of sealed) expect(Buffer.from(text.split(' ')[2] ?? '', 'base64url').includes(secret)).toBe(false)
  })

  it('does not open when a character is changed or removed', () => {
    const { seal, open } = createSealer([one])
    const sealed = seal('p', secret) ?? ''
    for (let at = 0; at < sealed.length; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A'
      expect(() => open('p', sealed.slice(0, at) + other + sealed.slice(at + 1))).toThrow()
      expect(() => open('p', sealed.slice(0, at))).toThrow()
    }
  })
})

describe.skipIf(postgres === null)('the hash key of subjects', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  const stored = () =>
    postgres.psql(url, `select subject_key is null, split_part(sealed_subject_key, ' ', 1) from org_log`)
  const start = (SVC_ENCRYPTION_KEY: string, data_dir?: string) =>
    startPlatform({ database_url: url, env: { SVC_ENCRYPTION_KEY }, ...(data_dir !== undefined && { data_dir }) })
  const log = async (platform: TestPlatform, task_id: string) => {
    const body = {
      task_id,
      step: 1,
      step_type: 'START_NODE',
      timestamp: '2026-01-05T09:00:00Z',
      input: { of: 'mia' },
      properties: { data: { subject_id: 'mia_li_3668' } },
    }
    expect((await platform.call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
  }
  const erased = async (platform: TestPlatform) => {
    const body = { subject_id: 'mia_li_3668', legal_basis: 'GDPR Art. 17' }
    return (await platform.call<ErasureResult>('POST', '/api/v1/erasures', { body })).body.tasks
  }

  it('is sealed at its first use, and survives a change of the encryption key', async () => {
    const [old, next] = [one.toString('base64'), two.toString('hex')]
    const first = await start(old)
    await first.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
    expect(stored()).toBe('f|')
    await log(first, 'one')
    expect(stored()).toBe('t|svc.seal/1')
    const { action } = await makeAction(first, { config: { url: 'http://127.0.0.1:9/' } })
    await first.call('POST', `/api/v1/actions/${action.id}/rotate-secret`)
    await first.close()

    const second = await start(`${next} ${old}`, first.data_dir)
    await log(second, 'two')
    expect(await erased(second)).toBe(2)
    await log(second, 'three')
    await second.close()
    await expect(start(next, first.data_dir)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_INVALID' })

    const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: first.data_dir }
    const rotated = await runPlatform(['rotate-secrets'], { ...env, SVC_ENCRYPTION_KEY: `${next} ${old}` })
    expect([rotated.code, rotated.stdout, rotated.stderr]).toEqual([
      0,
      expect.stringMatching(/^4 secrets were sealed/),
      '',
    ])
    const again = await runPlatform(['rotate-secrets'], { ...env, SVC_ENCRYPTION_KEY: next })
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/^0 secrets/)])
    const keyless = await runPlatform(['rotate-secrets'], env)
    expect([keyless.code, keyless.stderr]).toEqual([1, expect.stringContaining('openssl rand -base64 32')])

    const third = await start(next, first.data_dir)
    expect(await erased(third)).toBe(1)
    // The address and both secrets of the action open with the new key alone.
    const tried = await third.call<ActionTest>('POST', `/api/v1/actions/${action.id}/test`)
    expect(tried.body.error).toContain('ECONNREFUSED')
    await discard(third)
  })
})

describe.skipIf(postgres === null)('the encryption key of a server', () => {
  if (postgres === null) return
  const [old, next] = [one.toString('base64'), two.toString('hex')]
  const start = (url: string, SVC_ENCRYPTION_KEY: string) =>
    startPlatform({ database_url: url, env: { SVC_ENCRYPTION_KEY } })
  const opens = async (url: string, key: string) => discard(await start(url, key))

  it.each([
    [
      'is missing',
      '',
      /^SVC_ENCRYPTION_KEY is missing: with SVC_DATABASE_URL .*`openssl rand -base64 32` or `node -p /,
    ],
    ['is too short', 'dG9vIHNob3J0', /not 32 bytes in base64 or hex: create one with `openssl rand -base64 32`/],
  ])('is rejected at the start when it %s', async (_, key, message) => {
    const started = start(postgres.freshDatabase(), key)
    await expect(started).rejects.toMatchObject({
      code: 'ENCRYPTION_KEY_INVALID',
      message: expect.stringMatching(message),
    })
  })

  it('can be created by the command that the message names', async () => {
    const rejection = await runPlatform(['start'], { SVC_DATABASE_URL: postgres.freshDatabase() })
    const [, command = ''] = /or `(node -p .*)`\n/.exec(rejection.stderr) ?? []
    const made = execFileSync('sh', ['-c', command], { encoding: 'utf8' }).trim()
    expect([rejection.code, Buffer.from(made, 'base64').length]).toEqual([1, 32])
  })

  it('must be the same for every process until it is rotated', async () => {
    const url = postgres.freshDatabase()
    const differs = {
      code: 'ENCRYPTION_KEY_INVALID',
      message: expect.stringContaining('this database uses the key'),
    }
    await opens(url, old)
    await expect(start(url, next)).rejects.toMatchObject(differs)
    await opens(url, `${next} ${old}`)
    await opens(url, old)
    const env = { SVC_DATABASE_URL: url, SVC_ENCRYPTION_KEY: `${next} ${old}` }
    expect((await runPlatform(['rotate-secrets'], env)).code).toBe(0)
    await opens(url, next)
    await expect(start(url, old)).rejects.toMatchObject(differs)
  })

  it('is stored by one of two concurrent starts with different keys', async () => {
    const url = postgres.freshDatabase()
    const started = await Promise.allSettled([start(url, old), start(url, next)])
    expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    for (const one of started) if (one.status === 'fulfilled') await discard(one.value)
  })
})
