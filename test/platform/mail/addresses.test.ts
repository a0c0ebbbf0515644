// Addresses: two spellings of one address are one account, and a text that is displayed as another address is rejected.
import { readFileSync } from 'node:fs'
import type { Offer, Problem, SessionTokens } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { parseAddress } from '../../../platform/mail/address.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface Cases {
  readonly same: readonly { readonly what: string; readonly spellings: readonly string[]; readonly is: string }[]
  readonly rejected: readonly { readonly what: string; readonly text: string }[]
}
const cases = parse(readFileSync(new URL('../../cases/addresses.yaml', import.meta.url), 'utf8')) as Cases

let mails: MailServer
let platform: TestPlatform
let owner: SignedIn
beforeAll(async () => {
  mails = await startMailServer()
  const env = { SVC_SMTP_URL: mails.url, SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
  platform = await startPlatform({ env })
  owner = await signedIn(platform, mails, 'owner@example.org')
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('an address', () => {
  it.each(cases.same)('has one normalized form for $what', ({ spellings, is }) => {
    expect(spellings.map(parseAddress)).toEqual(spellings.map(() => is))
    expect(parseAddress(is)).toBe(is)
  })

  it.each(cases.rejected)('is not a text with $what', ({ text }) => expect(parseAddress(text)).toBeNull())

  it.each(cases.rejected)('is rejected by every endpoint and page for $what', async ({ text }) => {
    const sent = await platform.call<Problem>('POST', '/auth/magic-link', { as: null, body: { email: text } })
    const invitation = { kind: 'invitation', email: text }
    const offered = await owner.call<Problem>('POST', `/auth/workspaces/${owner.org_id}/offers`, invitation)
    for (const { status, body } of [sent, offered])
      expect([status, body.code, body.errors.map(({ path }) => path)]).toEqual([422, 'INVALID', ['email']])
    const form = { method: 'POST', body: new URLSearchParams({ email: text }) }
    expect((await fetch(`${platform.url}/sign-in`, form)).status).toBe(422)
  })
})

describe('an account', () => {
  it('is the same for two spellings of its address', async () => {
    const plain = await signedIn(platform, mails, 'office@example.org')
    await platform.call('POST', '/auth/magic-link', { as: null, body: { email: '\uFF2F\uFB03ce@ex\uFF41mple.org' } })
    const body = { token: await mails.tokenFor('office@example.org') }
    const tokens = (await platform.call<SessionTokens>('POST', '/auth/magic-link/verify', { as: null, body })).body
    const me = await platform.call('GET', '/auth/me', { as: tokens.access_token })
    expect(me.body).toMatchObject({ id: plain.id, email: 'office@example.org' })
  })

  it('can be invited by any spelling of its address', async () => {
    const invitation = { kind: 'invitation', email: 'gu\uFF45st@\uFF45xample.org' }
    const offer = (await owner.call<Offer>('POST', `/auth/workspaces/${owner.org_id}/offers`, invitation)).body
    expect(offer.email).toBe('guest@example.org')
    const guest = await signedIn(platform, mails, 'guest@example.org')
    expect((await guest.call('POST', `/auth/offers/${offer.id}/accept`)).status).toBe(200)
  })
})
