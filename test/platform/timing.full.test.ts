// How long an answer takes tells nothing of who has an account, a key or a session: measured in turns, so that both kinds see the
// same machine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailServer } from '../support/mail.js'
import { signedIn } from '../support/people.js'
import { discard, startPlatform, type TestPlatform } from '../support/platform.js'
import { sharedPostgres } from '../support/postgres.js'

const samples = 10_000
const postgres = await sharedPostgres()

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0

/** Compares the medians of two requests, each of which answers with its status. */
async function compare(
  one: () => Promise<Response>,
  other: () => Promise<Response>,
  answers: readonly [number, number],
) {
  const timed = async (send: () => Promise<Response>, status: number) => {
    const started = performance.now()
    const response = await send()
    await response.arrayBuffer()
    const time = performance.now() - started
    expect(response.status).toBe(status)
    return time
  }
  for (let warm = 0; warm < 500; warm++) await timed(one, answers[0])
  const [right, wrong]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < samples; turn++) {
    const inOrder = turn % 2 === 0
    if (inOrder) right.push(await timed(one, answers[0]))
    wrong.push(await timed(other, answers[1]))
    if (!inOrder) right.push(await timed(one, answers[0]))
  }
  const ratio = median(right) / median(wrong)
  console.log(`medians ${median(right).toFixed(3)} and ${median(wrong).toFixed(3)} ms, ratio ${ratio.toFixed(3)}`)
  expect(Math.abs(ratio - 1)).toBeLessThan(0.05)
}

describe.skipIf(postgres === null)('the time of an answer', () => {
  if (postgres === null) return
  let platform: TestPlatform
  let token: string
  const database_url = postgres.freshDatabase()
  beforeAll(async () => {
    const mails = await startMailServer()
    const SVC_ENCRYPTION_KEY = Buffer.alloc(32, 3).toString('hex')
    const first = await startPlatform({ database_url, env: { SVC_SMTP_URL: mails.url, SVC_ENCRYPTION_KEY } })
    token = (await signedIn(first, mails, 'known@example.org')).token
    await first.close()
    await mails.close()
    // Mails are printed to nowhere, so that it is the platform that is measured.
    const env = { SVC_ENCRYPTION_KEY, SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
    platform = await startPlatform({ database_url, data_dir: first.data_dir, env })
  })
  afterAll(() => discard(platform))

  it('is the same for an address with an account and one without', async () => {
    const ask = (email: string) => () =>
      fetch(`${platform.url}/auth/magic-link`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email }) },
      })
    await compare(ask('known@example.org'), ask('other@example.org'), [202, 202])
  })

  // Nothing is done for whoever is known but may not ask this, so that it is the check alone that is measured.
  const ask = (path: string, credential: string) =>
    fetch(`${platform.url}${path}`, { headers: { authorization: `Bearer ${credential}` } })

  it('is the same for a session and for a token with another signature', async () => {
    const forged = `${token.slice(0, -8)}${token.slice(-8, -1) === 'AAAAAAA' ? 'BBBBBBB' : 'AAAAAAA'}A`
    await compare(
      () => ask('/api/v1/policies/effective', token),
      () => ask('/api/v1/policies/effective', forged),
      [403, 401],
    )
  })

  it('is the same for a key and for one that is none', async () => {
    // Each is asked with once, as by whoever guesses: one that was seen before is remembered for seconds.
    const keys = (what: string) => {
      let count = 0
      return () => `SvcKey-${what}${String(count++).padStart(40, '0')}`
    }
    postgres.psql(
      database_url,
      `insert into api_keys (org_id, key_id, key_hash, first_key_hash, name, scopes, created_at, last_used_at)
       select k.org_id, 'key_' || n, sha256(s.secret), sha256(s.secret), 'n', k.scopes, now(), now() from api_keys k,
         generate_series(0, ${samples + 500}) n, lateral (select convert_to('SvcKey-a' || lpad(n::text, 40, '0'), 'UTF8') as secret) s`,
    )
    const [right, wrong] = [keys('a'), keys('b')]
    await compare(
      () => ask('/auth/me', right()),
      () => ask('/auth/me', wrong()),
      [403, 401],
    )
  })
})
