// How long an answer takes tells nothing of who has an account: measured in turns, so that both kinds see the same machine.
import { afterAll, describe, expect, it } from 'vitest'
import { startMailServer } from '../support/mail.js'
import { signedIn } from '../support/people.js'
import { discard, startPlatform } from '../support/platform.js'
import { startPostgres } from '../support/postgres.js'

const samples = 10_000
const postgres = await startPostgres()
afterAll(() => postgres?.remove())

const median = (times: readonly number[]) => [...times].sort((a, b) => a - b)[times.length >> 1] ?? 0

describe.skipIf(postgres === null)('the time of an answer', () => {
  if (postgres === null) return
  it('is the same for an address with an account and one without', async () => {
    const mails = await startMailServer()
    const SVC_ENCRYPTION_KEY = Buffer.alloc(32, 3).toString('hex')
    const database_url = postgres.freshDatabase()
    const first = await startPlatform({ database_url, env: { SVC_SMTP_URL: mails.url, SVC_ENCRYPTION_KEY } })
    await signedIn(first, mails, 'known@example.org')
    await first.close()
    await mails.close()
    // Mails are printed to nowhere, so that it is the platform that is measured.
    const env = { SVC_ENCRYPTION_KEY, SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
    const platform = await startPlatform({ database_url, data_dir: first.data_dir, env })
    const ask = async (email: string) => {
      const started = performance.now()
      const response = await fetch(`${platform.url}/auth/magic-link`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ email }) },
      })
      await response.arrayBuffer()
      expect(response.status).toBe(202)
      return performance.now() - started
    }
    for (let warm = 0; warm < 500; warm++) await ask('known@example.org')
    const [known, unknown]: [number[], number[]] = [[], []]
    for (let turn = 0; turn < samples; turn++) {
      const inOrder = turn % 2 === 0
      if (inOrder) known.push(await ask('known@example.org'))
      unknown.push(await ask('other@example.org'))
      if (!inOrder) known.push(await ask('known@example.org'))
    }
    const ratio = median(known) / median(unknown)
    console.log(`medians ${median(known).toFixed(3)} and ${median(unknown).toFixed(3)} ms, ratio ${ratio.toFixed(3)}`)
    expect(Math.abs(ratio - 1)).toBeLessThan(0.05)
    await discard(platform)
  })
})
