// Access tokens, refresh tokens and browser cookies: they expire, and a stolen one ends the session.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { Account, Problem, SessionTokens } from '@svc/schemas'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cookieOf, cookiesOf } from '../../support/people/people.js'
import { minute, openSignIn, type SignInSite } from '../../support/people/sign-in.js'
import { discard, startPlatform } from '../../support/server/platform.js'

let site: SignInSite
beforeAll(async () => {
  site = await openSignIn()
})
afterAll(() => site.close())

describe('an access token', () => {
  it('is valid for 15 minutes', async () => {
    const { access_token, expires_in } = await site.signIn('timed@example.org')
    expect(expires_in).toBe(900)
    site.clock.now += 14 * minute
    expect((await site.me(access_token)).status).toBe(200)
    site.clock.now += 2 * minute
    expect((await site.me(access_token)).status).toBe(401)
  })

  it('stays valid when its signing key rotates', async () => {
    const month = 30 * 86_400_000
    site.clock.now = Math.ceil(site.clock.now / month) * month - minute
    const tokens = await signInNow('month@example.org')
    site.clock.now += 2 * minute
    expect((await site.me(tokens.access_token)).status).toBe(200)
  })

  /** Signs in without moving the clock. */
  async function signInNow(email: string): Promise<SessionTokens> {
    expect((await site.requestLink(email)).status).toBe(202)
    return (await site.redeem(await site.mails.tokenFor(email))).body
  }

  it('is rejected without a signature of this installation', async () => {
    const { access_token } = await site.signIn('forged@example.org')
    const [head = '', body = '', signature = ''] = access_token.split('.')
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
    const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, unknown>
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const foreign = generateKeyPairSync('ed25519').privateKey
    const signed = (alg: string, key: Parameters<SignJWT['sign']>[0]) =>
      new SignJWT(claims).setProtectedHeader({ ...header, alg }).sign(key)
    const tokens = [
      `${encode({ ...header, alg: 'none' })}.${body}.`,
      `${encode({ ...header, alg: 'none' })}.${body}.${signature}`,
      `${head}.${encode({ ...claims, sub: 'usr_other' })}.${signature}`,
      `${head}.${encode({ ...claims, exp: 4102444800 })}.${signature}`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      `${head}.${body}.`,
      await signed('EdDSA', createPrivateKey(foreign.export({ type: 'pkcs8', format: 'pem' }))),
      await signed('HS256', Buffer.alloc(32)),
      `${encode({ ...header, kid: '1' })}.${body}.${signature}`,
      `${encode({ ...header, kid: undefined })}.${body}.${signature}`,
      `${encode({ ...header, typ: 'JWT' })}.${body}.${signature}`,
    ]
    expect((await site.me(access_token)).status).toBe(200)
    for (const token of tokens) expect([token, (await site.me(token)).status]).toEqual([token, 401])
  })

  it('ends with its session', async () => {
    const { access_token, refresh_token } = await site.signIn('leaving@example.org')
    expect((await site.post('/auth/logout', undefined, access_token)).status).toBe(204)
    expect((await site.me(access_token)).status).toBe(401)
    expect((await site.post('/auth/refresh', { refresh_token })).status).toBe(401)
  })
})

describe('a refresh token', () => {
  const refresh = (refresh_token: string) => site.post<SessionTokens & Problem>('/auth/refresh', { refresh_token })
  const day = 86_400_000

  it('continues a session for 30 days after its last use, and for at most 90 days', async () => {
    let { refresh_token } = await site.signIn('lasting@example.org')
    for (let turn = 0; turn < 3; turn++) {
      site.clock.now += 29 * day
      const { status, body } = await refresh(refresh_token)
      expect([turn, status]).toEqual([turn, 200])
      refresh_token = body.refresh_token
    }
    site.clock.now += 4 * day
    expect((await refresh(refresh_token)).status).toBe(401)
    const idle = await site.signIn('idle@example.org')
    site.clock.now += 30 * day
    expect((await refresh(idle.refresh_token)).status).toBe(401)
  })

  it('works once and returns its successor', async () => {
    const first = await site.signIn('staying@example.org')
    site.clock.now += 60 * minute
    const second = await refresh(first.refresh_token)
    expect([second.status, second.body.refresh_token === first.refresh_token]).toEqual([200, false])
    expect((await site.me(second.body.access_token)).status).toBe(200)
    expect((await refresh(second.body.refresh_token)).status).toBe(200)
  })

  it('ends the session when it is used twice', async () => {
    const stolen = await site.signIn('robbed@example.org')
    const thief = await refresh(stolen.refresh_token)
    expect(thief.status).toBe(200)
    expect((await refresh(stolen.refresh_token)).status).toBe(401)
    expect((await refresh(thief.body.refresh_token)).status).toBe(401)
    expect((await site.me(thief.body.access_token)).status).toBe(401)
  })

  it('works once for concurrent requests', async () => {
    const { refresh_token } = await site.signIn('raced@example.org')
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(refresh_token)))
    expect(answers.filter(({ status }) => status === 200).length).toBe(1)
  })

  it('expires after 30 days without use', async () => {
    const { refresh_token } = await site.signIn('idle-too@example.org')
    site.clock.now += 30 * 86_400_000 + 1
    expect((await refresh(refresh_token)).status).toBe(401)
  })
})

describe('a browser session', () => {
  const open = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${site.platform.url}/auth/magic-link`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
      headers,
    })
  const linkFor = async (email: string) => {
    site.clock.now += 20 * minute
    await site.requestLink(email)
    return site.mails.tokenFor(email)
  }

  it('begins with the button of the link page, and sets a cookie that scripts cannot read', async () => {
    const token = await linkFor('browser@example.org')
    const response = await open(token, { origin: site.platform.url })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/'])
    const set = response.headers.getSetCookie()
    expect(set.find((cookie) => cookie.startsWith('svc_access='))).toMatch(/HttpOnly.*SameSite=Lax/)
    expect(set.find((cookie) => cookie.startsWith('svc_csrf='))).not.toContain('HttpOnly')
    expect((await open(token)).status).toBe(401)
  })

  it('has a way to a new link on the page of an incomplete one', async () => {
    const response = await fetch(`${site.platform.url}/auth/magic-link`)
    expect(response.status).toBe(400)
    const page = await response.text()
    expect(page).toContain('Open the complete link of the mail, or request a new one.')
    expect(page).toContain('<a href="/sign-in">')
  })

  it('reads with its cookie alone, and needs its CSRF token for changes', async () => {
    const cookie = cookieOf(await open(await linkFor('csrf@example.org')))
    const [, csrf = ''] = /svc_csrf=([^;]+)/.exec(cookie) ?? []
    const call = (method: string, path: string, headers: Record<string, string>) =>
      site.platform.call<Account & Problem>(method, path, { as: null, headers: { cookie, ...headers } })
    expect((await call('GET', '/auth/me', {})).body.email).toBe('csrf@example.org')
    for (const sent of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': `${csrf}x` }])
      expect((await call('POST', '/auth/logout', sent as Record<string, string>)).status).toBe(403)
    expect((await call('GET', '/auth/me', {})).status).toBe(200)
    expect((await call('POST', '/auth/logout', { 'x-csrf-token': csrf })).status).toBe(204)
    expect((await call('GET', '/auth/me', {})).status).toBe(401)
  })

  it('rejects the CSRF token of another session', async () => {
    const [theirs, mine] = [await open(await linkFor('a@example.org')), await open(await linkFor('b@example.org'))].map(
      cookiesOf,
    )
    const cookie = mine?.find((one) => one.startsWith('svc_access=')) ?? ''
    const csrf = theirs?.find((one) => one.startsWith('svc_csrf='))?.slice('svc_csrf='.length) ?? ''
    const { status } = await site.platform.call('POST', '/auth/logout', {
      as: null,
      headers: { cookie, 'x-csrf-token': csrf },
    })
    expect(status).toBe(403)
  })

  it('does not begin with a form of another origin', async () => {
    const token = await linkFor('lured@example.org')
    expect((await open(token, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await open(token, { origin: 'null' })).status).toBe(403)
    expect((await site.redeem(token)).status).toBe(200)
  })
})

describe('the encryption key', () => {
  it('rotates when a new key is put first', async () => {
    const [old, fresh] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('hex')]
    const env = { SVC_SMTP_URL: site.mails.url, SVC_ENCRYPTION_KEY: old }
    site.clock.now += 20 * minute
    // The processes of a database server rotate with the command rotate-secrets.
    let own = await startPlatform({ database_url: null, env, clock: () => site.clock.now })
    await own.call('POST', '/auth/magic-link', { as: null, body: { email: 'rotated@example.org' } })
    const body = { token: await site.mails.tokenFor('rotated@example.org') }
    const tokens = await own.call<SessionTokens>('POST', '/auth/magic-link/verify', { as: null, body })
    const status = async () => (await own.call('GET', '/auth/me', { as: tokens.body.access_token })).status
    const restarted = async (keys: string) => {
      own = await own.restart({ SVC_ENCRYPTION_KEY: keys })
    }
    expect(await status()).toBe(200)
    await restarted(`${fresh} ${old}`)
    expect(await status()).toBe(200)
    await restarted(fresh)
    expect(await status()).toBe(401)
    const { refresh_token } = tokens.body
    expect((await own.call('POST', '/auth/refresh', { as: null, body: { refresh_token } })).status).toBe(200)
    await discard(own)
  })
})
