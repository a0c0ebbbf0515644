// The link of an invitation: its button signs in and accepts, once, for one address. Opening it changes nothing.
import { mkdtempSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join as joined } from 'node:path'
import { createPlatform, readConfig } from '@svc/platform'
import type { Account, MemberList, Offer, Problem, SessionTokens } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { cookieOf, csrfIn, rolesIn, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
let owner: SignedIn
let path: string
let count = 0

const invite = async (email = `guest${count++}@example.org`) => {
  const body = { kind: 'invitation', email, role: 'auditor' }
  const offer = (await owner.call<Offer>('POST', `${path}/offers`, body)).body
  return { email, offer, token: await mails.tokenFor(email) }
}
const open = async (token: string, cookie = '') => {
  const response = await fetch(`${platform.url}/auth/invitation?token=${token}`, { headers: { cookie } })
  return { status: response.status, text: await response.text(), cookies: response.headers.getSetCookie() }
}
const press = async (token: string, headers: Record<string, string> = {}) => {
  const body = new URLSearchParams({ token })
  const response = await fetch(`${platform.url}/auth/invitation`, { method: 'POST', body, headers })
  return { status: response.status, text: await response.text(), cookie: cookieOf(response) }
}
const accept = (token: string) =>
  platform.call<SessionTokens & Problem>('POST', '/auth/invitation/accept', { as: null, body: { token } })
const accountOf = async (cookie: string) =>
  (await platform.call<Account>('GET', '/auth/me', { as: null, headers: { cookie } })).body
const roles = async () => Object.fromEntries(await rolesIn(owner, owner.org_id))

beforeAll(async () => {
  mails = await startMailServer()
  // The owner of the first workspace and this test's owner reach the cap.
  const env = { SVC_REGISTRATION_CAP: '2', SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
  platform = await startPlatform({ env: { ...env, SVC_SMTP_URL: mails.url }, clock: () => now })
  owner = await signedIn(platform, mails, 'owner@example.org')
  path = `/auth/workspaces/${owner.org_id}`
  await owner.call('POST', `${path}/promote`, { name: 'Acme <b>' })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('the link of an invitation', () => {
  it('signs in and accepts by its button, also beyond the registration cap, and changes nothing before', async () => {
    const { email, token } = await invite()
    for (let visits = 0; visits < 3; visits++) {
      const { status, text, cookies } = await open(token)
      expect([status, cookies]).toEqual([200, []])
      expect(text).toContain('Acme &lt;b&gt;</strong> invites <strong>')
      expect(text).toContain('<form method="post" action="/auth/invitation">')
    }
    expect(await roles()).not.toHaveProperty(email)
    const { status, text, cookie } = await press(token)
    expect([status, text]).toEqual([200, expect.stringContaining('work in <strong>Acme &lt;b&gt;</strong> as auditor')])
    expect((await roles())[email]).toBe('auditor')
    const me = await accountOf(cookie)
    expect(me).toMatchObject({ email, is_capped: true, is_suspended: false, current_workspace: owner.org_id })
    expect(me.workspaces.map(({ kind, role }) => [kind, role])).toEqual([
      ['personal', 'owner'],
      ['shared', 'auditor'],
    ])
    const reads = await platform.call('GET', '/api/v1/agents', { as: null, headers: { cookie } })
    expect(reads.status).toBe(200)
  })

  it('signs in the existing account of its address', async () => {
    const known = await signedIn(platform, mails, 'known@example.org')
    const { token } = await invite(known.email)
    const { status, body } = await accept(token)
    expect([status, body]).toEqual([200, expect.objectContaining({ token_type: 'Bearer', expires_in: 900 })])
    const me = await platform.call<Account>('GET', '/auth/me', { as: body.access_token })
    expect([me.body.id, me.body.current_workspace]).toEqual([known.id, owner.org_id])
  })

  it('works once', async () => {
    const { token } = await invite()
    expect((await press(token)).status).toBe(200)
    for (const answer of [await open(token), await press(token)])
      expect([answer.status, answer.text]).toEqual([410, expect.stringContaining('was already accepted')])
    expect((await press(token)).cookie).toBe('')
    const { status, body } = await accept(token)
    expect([status, body.code]).toEqual([409, 'INVALID_TRANSITION'])
  })

  it('works once for concurrent requests, and creates one account', async () => {
    const { email, token } = await invite()
    const answers = await Promise.all(Array.from({ length: 6 }, () => accept(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    expect((await roles())[email]).toBe('auditor')
  })

  it.each(['declined', 'revoked', 'expired'])(
    'reports that the invitation was %s, and does not sign in',
    async (end) => {
      const email = `guest${count++}@example.org`
      const guest = end === 'declined' ? await signedIn(platform, mails, email) : null
      const { offer, token } = await invite(email)
      if (guest !== null) await guest.call('POST', `/auth/offers/${offer.id}/decline`)
      if (end === 'revoked') await owner.call('POST', `${path}/offers/${offer.id}/revoke`)
      if (end === 'expired') {
        now += 7 * 86_400_000
        owner = await signedIn(platform, mails, owner.email)
        await owner.call('POST', `${path}/switch`)
      }
      const answers = [await open(token), await press(token)]
      for (const { status, text } of answers) expect([status, text]).toEqual([410, expect.stringContaining(end)])
      expect(answers[0]?.text).toContain('Ask an administrator of Acme')
      expect([(await accept(token)).status, (await press(token)).cookie]).toEqual([409, ''])
      expect(await roles()).not.toHaveProperty(email)
    },
  )

  it('is not accepted in a browser with another signed-in address', async () => {
    const [one, other] = [await invite(), await invite()]
    const { cookie } = await press(one.token)
    const opened = await open(other.token, cookie)
    const pressed = await press(other.token, { cookie })
    for (const { status, text } of [opened, pressed]) {
      expect([status, text]).toEqual([409, expect.stringContaining(`signed in as <strong>${one.email}`)])
      expect(text).toContain(`is for <strong>${other.email}`)
    }
    expect(await roles()).not.toHaveProperty(other.email)
    // Its button signs out; then the link works.
    const csrf = csrfIn(opened.text)
    const form = { method: 'POST', headers: { cookie }, body: new URLSearchParams({ act: 'logout', csrf }) }
    await fetch(`${platform.url}/account`, form)
    expect((await press(other.token, { cookie })).status).toBe(200)
    expect((await roles())[other.email]).toBe('auditor')
  })

  it('is accepted in a browser with its own signed-in address', async () => {
    const first = await invite()
    const { cookie } = await press(first.token)
    const { members } = (await owner.call<MemberList>('GET', `${path}/members`)).body
    const { person_id = '' } = members.find(({ email }) => email === first.email) ?? {}
    await owner.call('POST', `${path}/members/${person_id}/remove`)
    const second = await invite(first.email)
    expect((await open(second.token, cookie)).status).toBe(200)
    expect((await press(second.token, { cookie })).status).toBe(200)
  })

  it('is void when its sender can no longer invite', async () => {
    const admin = await invite()
    const session = (await accept(admin.token)).body.access_token
    const made = (await owner.call<Offer>('POST', `${path}/offers`, { kind: 'admin', email: admin.email })).body
    await platform.call('POST', `/auth/offers/${made.id}/accept`, { as: session })
    const email = `guest${count++}@example.org`
    await platform.call('POST', `${path}/offers`, { as: session, body: { kind: 'invitation', email } })
    const token = await mails.tokenFor(email)
    expect((await open(token)).text).toContain('Sign in and accept')
    const { id } = (await platform.call<Account>('GET', '/auth/me', { as: session })).body
    await owner.call('POST', `${path}/members/${id}/remove`)
    expect(await press(token)).toMatchObject({ status: 410, text: expect.stringContaining('revoked'), cookie: '' })
  })

  it.each(['', 'x', 'x'.repeat(43), '"><script>alert(1)</script>'])('rejects the invalid token %j', async (token) => {
    const text = encodeURIComponent(token)
    for (const answer of [await open(text), await press(token)]) {
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('This link is invalid')])
      expect(answer.text).not.toContain('<script>')
    }
    expect([401, 422]).toContain((await accept(token)).status)
  })

  it('does not work as a sign-in link, nor a sign-in link as an invitation', async () => {
    const { email, token } = await invite()
    const spent = await platform.call('POST', '/auth/magic-link/verify', { as: null, body: { token } })
    expect(spent.status).toBe(401)
    await platform.call('POST', '/auth/magic-link', { as: null, body: { email } })
    expect((await accept(await mails.tokenFor(email))).status).toBe(401)
  })

  it('rejects a form of another origin', async () => {
    const { email, token } = await invite()
    for (const origin of ['https://evil.example', 'null']) expect((await press(token, { origin })).status).toBe(403)
    expect(await roles()).not.toHaveProperty(email)
    expect((await press(token, { origin: platform.url })).status).toBe(200)
  })
})

describe('an install without a mail server', () => {
  it('prints the mail of an invitation, whose link works', async () => {
    const data_dir = mkdtempSync(joined(tmpdir(), 'svc-test-'))
    const printed: string[] = []
    const { value: config } = readConfig({ SVC_DATA_DIR: data_dir, SVC_LOG_LEVEL: 'error' })
    const own = await createPlatform(config, Date.now, (text) => printed.push(text))
    await new Promise<void>((resolve) => own.listener.listen(0, '127.0.0.1', () => resolve()))
    const url = `http://127.0.0.1:${(own.listener.address() as AddressInfo).port}`
    const post = async <T>(at: string, body: object, as: string | null) => {
      const headers = { 'content-type': 'application/json', ...(as !== null && { authorization: `Bearer ${as}` }) }
      const answer = await fetch(url + at, { method: 'POST', headers, body: JSON.stringify(body) })
      const text = await answer.text()
      return (text === '' ? null : JSON.parse(text)) as T
    }
    const token = /token=([A-Za-z0-9_-]{43})/.exec((await own.ownerLink()) ?? '')?.[1]
    const { access_token } = await post<SessionTokens>('/auth/magic-link/verify', { token }, null)
    const me = (await (
      await fetch(`${url}/auth/me`, { headers: { authorization: `Bearer ${access_token}` } })
    ).json()) as Account
    const at = `/auth/workspaces/${me.current_workspace}`
    await post(`${at}/promote`, { name: 'Acme' }, access_token)
    await post(`${at}/offers`, { kind: 'invitation', email: 'mia@example.org' }, access_token)
    const link = new RegExp(`${url}/auth/invitation\\?token=[A-Za-z0-9_-]{43}`).exec(printed.join('\n'))?.[0] ?? ''
    expect(printed.join('\n')).toContain('mail to mia@example.org')
    expect(await (await fetch(link)).text()).toContain('Sign in and accept')
    const body = new URLSearchParams({ token: link.split('token=')[1] ?? '' })
    expect((await fetch(`${url}/auth/invitation`, { method: 'POST', body })).status).toBe(200)
    await own.close()
    rmSync(data_dir, { recursive: true })
  })
})
