// Two platforms on one server, with clocks that do not advance: revoked keys and counted attempts are shared.
import type { ApiKeyList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type Answer, discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('two processes of one database', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let now = Date.parse('2026-03-01T12:00:00Z')
  let mails: MailServer
  let one: TestPlatform
  let other: TestPlatform
  beforeAll(async () => {
    mails = await startMailServer()
    const env = {
      SVC_SMTP_URL: mails.url,
      SVC_CHECKPOINT_SECONDS: '0',
      SVC_RATE_LIMIT_ADDRESS: '4',
      SVC_RATE_LIMIT_MAILBOX: '2',
      SVC_TRUSTED_PROXIES: '127.0.0.1',
      SVC_OPERATOR_TOKEN: 'operator-token-of-both-processes-1',
    }
    const start = () => startPlatform({ database_url: url, env, clock: () => now })
    one = await start()
    other = await start()
  })
  afterAll(async () => {
    for (const platform of [one, other]) await discard(platform)
    await mails.close()
  })
  const read = async (platform: TestPlatform, as: string) =>
    (await platform.call('GET', '/api/v1/log/checkpoint', { as })).status
  const newKey = async (name: string) => {
    const made = await one.call<{ key: string; api_key: { id: string } }>('POST', '/auth/api-keys', { body: { name } })
    expect(made.status).toBe(201)
    return { key: made.body.key, path: `/auth/api-keys/${made.body.api_key.id}` }
  }
  const rejectedSoon = (platform: TestPlatform, key: string) =>
    vi.waitFor(async () => expect(await read(platform, key)).toBe(401), soon)

  it.each(['revoke', 'roll'])('both reject an API key after one of them runs %s', async (change) => {
    const { key, path } = await newKey(change)
    expect([await read(one, key), await read(other, key)]).toEqual([404, 404])
    expect((await one.call('POST', `${path}/${change}`)).status).toBe(200)
    expect(await read(one, key)).toBe(401)
    await rejectedSoon(other, key)
    now += 900_000
  })

  it('reject an API key that is revoked while it is used', async () => {
    const { key, path } = await newKey('busy')
    const used = Array.from({ length: 40 }, () => read(one, key))
    const revoked = one.call('POST', `${path}/revoke`)
    await Promise.all([...used, revoked])
    expect(await read(one, key)).toBe(401)
    now += 900_000
  })

  it('learn of a revoked API key after the listening connection was lost', async () => {
    const { key, path } = await newKey('lost')
    const listening = `from pg_stat_activity where application_name = 'svc notices' and datname = current_database()`
    const pids = () => postgres.psql(url, `select pid ${listening} order by pid`)
    await vi.waitFor(() => expect(pids().split('\n')).toHaveLength(2), soon)
    const before = pids()
    postgres.psql(url, `select pg_terminate_backend(pid) ${listening}`)
    await vi.waitFor(() => {
      expect(pids().split('\n')).toHaveLength(2)
      for (const pid of before.split('\n')) expect(pids().split('\n')).not.toContain(pid)
    }, soon)
    expect(await read(other, key)).toBe(404)
    expect((await one.call('POST', `${path}/revoke`)).status).toBe(200)
    await rejectedSoon(other, key)
    now += 900_000
  })

  type Attempt = (platform: TestPlatform, number: number) => Promise<Answer<Problem | unknown>>
  const from = (address: string) => ({ 'x-forwarded-for': address })
  const attempts: readonly [string, Attempt, number, number][] = [
    [
      'links to one mailbox',
      (platform, number) =>
        platform.call('POST', '/auth/magic-link', {
          as: null,
          body: { email: 'mia@example.org' },
          headers: from(`192.0.2.${number}`),
        }),
      2,
      202,
    ],
    [
      'links that one address asks for',
      (platform, number) =>
        platform.call('POST', '/auth/magic-link', {
          as: null,
          body: { email: `m${number}@example.org` },
          headers: from('198.51.100.1'),
        }),
      4,
      202,
    ],
    [
      'refresh tokens that one address tries',
      (platform, number) =>
        platform.call('POST', '/auth/refresh', {
          as: null,
          body: { refresh_token: `SvcRefresh-${'a'.repeat(42)}${number % 10}` },
          headers: from('198.51.100.2'),
        }),
      40,
      401,
    ],
    [
      'wrong API keys from one address',
      (platform, number) =>
        platform.call('GET', '/api/v1/log/checkpoint', {
          as: `SvcKey-${'w'.repeat(42)}${number % 10}`,
          headers: from('198.51.100.3'),
        }),
      4,
      401,
    ],
    [
      'wrong operator tokens from one address',
      (platform, number) =>
        platform.call('GET', '/api/v1/agents', {
          as: `operator-token-that-is-not-right-${number}`,
          headers: from('198.51.100.4'),
        }),
      4,
      401,
    ],
  ]
  it.each(attempts)('count %s together', async (_, attempt, allowed, status) => {
    const answers: Answer<unknown>[] = []
    for (let number = 0; number < allowed + 2; number++)
      answers.push(await attempt(number % 2 === 0 ? one : other, number))
    const expected = [...Array(allowed).fill(status), 429, 429]
    expect(answers.map((answer) => answer.status)).toEqual(expected)
    for (const { headers } of answers.slice(allowed)) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    now += 1000 * Number(answers.at(-1)?.headers.get('retry-after'))
    expect((await attempt(one, allowed + 2)).status).toBe(status)
    now += 900_000
  })

  it('keep serving valid keys of an address that sends invalid ones', async () => {
    const headers = from('198.51.100.5')
    const ask = (platform: TestPlatform, as: string) =>
      platform.call('GET', '/api/v1/log/checkpoint', { as, headers }).then(({ status }) => status)
    const [known, unknown] = [await newKey('known'), await newKey('unknown')]
    expect(await ask(one, known.key)).toBe(404)
    const wrong = Array.from({ length: 30 }, () => ask(one, `SvcKey-${'x'.repeat(43)}`))
    expect((await Promise.all(wrong)).filter((status) => status === 401)).toHaveLength(4)
    expect([await ask(one, known.key), await ask(one, unknown.key)]).toEqual([404, 429])
    now += 6000
    expect(await ask(one, known.key)).toBe(404)
    expect(await read(one, unknown.key)).toBe(404)
    now += 900_000
    expect(await ask(one, unknown.key)).toBe(404)
  })

  it('store neither addresses nor secrets of attempts, and delete attempts', async () => {
    const columns = `select column_name from information_schema.columns where table_name = 'svc_attempts' order by 1`
    expect(postgres.psql(url, columns).split('\n')).toEqual([
      'asker',
      'counted_at',
      'limit_name',
      'remaining',
      'was_allowed',
    ])
    expect(postgres.psql(url, 'select max(length(asker)) from svc_attempts')).toBe('16')
    now += 7_200_000
    expect(await read(one, `SvcKey-${'y'.repeat(43)}`)).toBe(401)
    expect(postgres.psql(url, 'select count(*) from svc_attempts')).toBe('1')
  })

  it('count no attempts for a valid API key', async () => {
    const { key } = await newKey('good')
    const counted = () => postgres.psql(url, 'select limit_name, remaining, counted_at from svc_attempts')
    const before = counted()
    for (let turn = 0; turn < 5; turn++) expect(await read(one, key)).toBe(404)
    expect(counted()).toBe(before)
    expect((await one.call<ApiKeyList>('GET', '/auth/api-keys')).status).toBe(200)
  })
})
