// How long an answer takes tells nothing of who has an account, a key or a session: measured in turns, so that both kinds see the
// same machine.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startMailServer } from '../support/mail.js'
import { signedIn } from '../support/people.js'
import { discard, startPlatform, type TestPlatform } from '../support/platform.js'
import { startPostgres } from '../support/postgres.js'

const samples = 10_000
const postgres = await startPostgres()
afterAll(() => postgres?.remove())

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
  // What is known of a key is forgotten between two requests: whoever guesses has not asked before.
  let now = Date.now()
  beforeAll(async () => {
    const mails = await startMailServer()
    const SVC_ENCRYPTION_KEY = Buffer.alloc(32, 3).toString('hex')
    const database_url = postgres.freshDatabase()
    const first = await startPlatform({ database_url, env: { SVC_SMTP_URL: mails.url, SVC_ENCRYPTION_KEY } })
    token = (await signedIn(first, mails, 'known@example.org')).token
    await first.close()
    await mails.close()
    // Mails are printed to nowhere, so that it is the platform that is measured.
    const env = { SVC_ENCRYPTION_KEY, SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
    platform = await startPlatform({ database_url, data_dir: first.data_dir, env, clock: () => now })
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

  it('is the same for a key and for one that differs in a letter', async () => {
    const askWith = (key: string) => () => {
      now += 5001
      return ask('/auth/me', key)
    }
    const wrong = `${platform.api_key.slice(0, -1)}${platform.api_key.endsWith('A') ? 'B' : 'A'}`
    await compare(askWith(platform.api_key), askWith(wrong), [403, 401])
  })
})
