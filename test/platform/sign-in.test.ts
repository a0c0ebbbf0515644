// Signing in: a link by mail that works once, tokens that end, and thieves that give themselves away.
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import type { Account, Problem, SessionTokens } from '@svc/schemas'
import { SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../support/mail.js'
import { discard, startPlatform, type TestPlatform } from '../support/platform.js'

let now = Date.parse('2026-03-01T09:00:00Z')
const minute = 60_000
let mails: MailServer
let platform: TestPlatform
const post = <T = Problem>(path: string, body: unknown, as: string | null = null) =>
  platform.call<T>('POST', path, { as, body })
const ask = (email: string) => post('/auth/magic-link', { email })
const spend = (token: string) => post<SessionTokens & Problem>('/auth/magic-link/verify', { token })
const me = (token: string) => platform.call<Account & Problem>('GET', '/auth/me', { as: token })

/** Signs in with the link of the last mail to the address. */
async function enter(email: string): Promise<SessionTokens> {
  now += 20 * minute
  expect((await ask(email)).status).toBe(202)
  const { status, body } = await spend(await mails.tokenFor(email))
  expect(status).toBe(200)
  return body
}

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url }, clock: () => now })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

/** Addresses that would end up in somebody else's mailbox, or read as something else. */
const elsewhere = [
  ...['<victim@example.org', 'vic<tim@example.org', 'victim@example.org>', '"victim"@example.org'],
  ...['v\\ictim@example.org', 'a,b@example.org', 'a@[127.0.0.1]', 'https://evil.example/?x=1&@example.org'],
  ...['a\u202egro@example.org', '(a)b@example.org', 'a;b@example.org'],
]

describe('a sign-in link', () => {
  it('makes an account with a workspace of its own', async () => {
    const { access_token } = await enter('New.Person@Example.org')
    const { status, body } = await me(access_token)
    expect([status, body.email, body.is_capped, body.is_suspended]).toEqual([
      200,
      'new.person@example.org',
      false,
      false,
    ])
    expect(body.workspaces).toMatchObject([{ kind: 'personal', role: 'owner', is_suspended: false }])
    expect(body.current_workspace).toBe(body.workspaces[0]?.org_id)
  })

  it('leads into the account there is, whichever way the address is written', async () => {
    const first = await me((await enter('again@example.org')).access_token)
    const second = await me((await enter('AGAIN@Example.org')).access_token)
    expect(second.body.id).toBe(first.body.id)
  })

  it('works once, and for a quarter of an hour', async () => {
    now += 20 * minute
    await ask('once@example.org')
    const token = await mails.tokenFor('once@example.org')
    expect((await spend(token)).status).toBe(200)
    expect((await spend(token)).status).toBe(401)
    now += 20 * minute
    await ask('once@example.org')
    const late = await mails.tokenFor('once@example.org')
    now += 15 * minute + 1
    expect((await spend(late)).status).toBe(401)
  })

  it('is not spent by whoever only follows it, such as a scanner of mails', async () => {
    now += 20 * minute
    await ask('scanned@example.org')
    const token = await mails.tokenFor('scanned@example.org')
    for (let visits = 0; visits < 3; visits++) {
      const page = await fetch(`${platform.url}/auth/magic-link?token=${token}`)
      const text = await page.text()
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(text).toContain('<form method="post"')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('referrer-policy')).toBe('same-origin')
    }
    expect((await spend(token)).status).toBe(200)
  })

  it.each(['"><script>alert(1)</script>', '{{7*7}}', '%0d%0aset-cookie: a=b'])(
    'shows no more of %s than its text',
    async (text) => {
      const page = await fetch(`${platform.url}/auth/magic-link?token=${encodeURIComponent(text)}`)
      expect(await page.text()).not.toContain('<script>')
      expect(page.headers.get('set-cookie')).toBeNull()
    },
  )

  it.each(['x'.repeat(43), 'SvcRefresh-'.padEnd(54, 'x'), '../../../../etc/passwd', ' '.repeat(30)])(
    'is not %s',
    async (token) => {
      expect([401, 422]).toContain((await spend(token)).status)
    },
  )

  it('is asked for with an address, and answers the same whatever it is', async () => {
    now += 20 * minute
    for (const email of ['', 'x', 'a b@example.org', 'a@b\r\nBcc: c@d', 42, ...elsewhere])
      expect([email, (await ask(email as string)).status]).toEqual([email, 422])
    // What a program may not send, a form may not either.
    for (const email of elsewhere) {
      const form = { method: 'POST', body: new URLSearchParams({ email }) }
      expect([email, (await fetch(`${platform.url}/sign-in`, form)).status]).toEqual([email, 422])
    }
    const answers = [await ask('known@example.org'), await ask('unknown@example.org')]
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [202, ''],
      [202, ''],
    ])
  })

  it('signs in the browser that opens it, and not the one that asked', async () => {
    now += 20 * minute
    const asked = await fetch(`${platform.url}/sign-in`, {
      ...{ method: 'POST', body: new URLSearchParams({ email: 'two-browsers@example.org' }) },
    })
    expect([asked.status, asked.headers.getSetCookie()]).toEqual([200, []])
    const token = await mails.tokenFor('two-browsers@example.org')
    const opened = await fetch(`${platform.url}/auth/magic-link?token=${token}`)
    expect([await opened.text(), opened.headers.getSetCookie()]).toEqual([
      expect.stringContaining('two-browsers@example.org'),
      [],
    ])
    const pressed = await fetch(`${platform.url}/auth/magic-link`, {
      ...{ method: 'POST', body: new URLSearchParams({ token }) },
    })
    expect(pressed.headers.getSetCookie().length).toBe(2)
    const again = await fetch(`${platform.url}/auth/magic-link?token=${token}`)
    expect([again.status, again.headers.getSetCookie()]).toEqual([401, []])
  })

  it.each([
    ['more fields than any form has', '/sign-in', 'a=1&'.repeat(12), 413],
    ['more fields than any form has', '/auth/magic-link', 'a=1&'.repeat(12), 413],
    ['letters of another kind', '/sign-in', null, 415],
  ])('is not asked for with %s', async (_, path, body, status) => {
    now += 20 * minute
    const type = `application/x-www-form-urlencoded${body === null ? '; charset=utf-7' : ''}`
    const headers = { 'content-type': type, accept: 'text/html,*/*' }
    const answer = await fetch(platform.url + path, { method: 'POST', headers, body: body ?? 'email=a@example.org' })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
  })

  it('is looked for in vain on a page', async () => {
    const look = (accept: string) => fetch(`${platform.url}/nowhere/<b>`, { headers: { accept } })
    const page = await look('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([page.status, await page.text()]).toEqual([
      404,
      expect.stringContaining('This path does not exist: see /docs.'),
    ])
    expect((await look('*/*')).headers.get('content-type')).toContain('application/problem+json')
  })

  it('is refused a browser on a page, and says when to come back', async () => {
    now += 20 * minute
    const send = () =>
      fetch(`${platform.url}/sign-in`, {
        ...{ method: 'POST', headers: { accept: 'text/html' } },
        body: new URLSearchParams({ email: 'eager@example.org' }),
      })
    for (let count = 0; count < 5; count++) expect((await send()).status).toBe(200)
    const { status, headers, text } = await send().then(async (one) => ({
      ...one,
      status: one.status,
      headers: one.headers,
      text: await one.text(),
    }))
    expect([status, Number(headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(text).toContain('Too many requests: retry in')
  })

  it('is sent from the page that asks for an address, and from no other page', async () => {
    now += 20 * minute
    const send = (origin: string) =>
      fetch(`${platform.url}/sign-in`, {
        ...{ method: 'POST', headers: { origin }, body: new URLSearchParams({ email: 'page@example.org' }) },
      })
    expect(await (await fetch(`${platform.url}/sign-in`)).text()).toContain('name="email"')
    expect((await send('https://evil.example')).status).toBe(403)
    expect((await send(platform.url)).status).toBe(200)
    expect(await mails.tokenFor('page@example.org')).toHaveLength(43)
  })

  it('is not told of an address that the mail server wants nothing for', async () => {
    now += 20 * minute
    expect((await ask('refused@example.org')).status).toBe(202)
    expect(mails.mailsTo('refused@example.org')).toEqual([])
  })

  it('is not sent to a mailbox more than five times in a quarter of an hour', async () => {
    now += 60 * minute
    for (let count = 0; count < 5; count++) expect((await ask('often@example.org')).status).toBe(202)
    const { status, headers, body } = await ask('Often@example.org')
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(100)
    expect((await ask('seldom@example.org')).status).toBe(202)
    now += 15 * minute
    expect((await ask('often@example.org')).status).toBe(202)
  })
})

describe('an access token', () => {
  it('is good for a quarter of an hour', async () => {
    const { access_token, expires_in } = await enter('timed@example.org')
    expect(expires_in).toBe(900)
    now += 14 * minute
    expect((await me(access_token)).status).toBe(200)
    now += 2 * minute
    expect((await me(access_token)).status).toBe(401)
  })

  it('outlives the month its key was made for, but not a second one', async () => {
    const month = 30 * 86_400_000
    now = Math.ceil(now / month) * month - minute
    const tokens = await enterAt('month@example.org')
    now += 2 * minute
    expect((await me(tokens.access_token)).status).toBe(200)
  })

  /** Signs in without moving the clock. */
  async function enterAt(email: string): Promise<SessionTokens> {
    expect((await ask(email)).status).toBe(202)
    return (await spend(await mails.tokenFor(email))).body
  }

  it('is none without a signature of this installation', async () => {
    const { access_token } = await enter('forged@example.org')
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
      `${head}.${encode({ ...claims, sub: 'usr_somebody_else' })}.${signature}`,
      `${head}.${encode({ ...claims, exp: 4102444800 })}.${signature}`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      `${head}.${body}.`,
      await signed('EdDSA', createPrivateKey(foreign.export({ type: 'pkcs8', format: 'pem' }))),
      await signed('HS256', Buffer.alloc(32)),
      `${encode({ ...header, kid: '1' })}.${body}.${signature}`,
      `${encode({ ...header, kid: undefined })}.${body}.${signature}`,
      `${encode({ ...header, typ: 'JWT' })}.${body}.${signature}`,
    ]
    expect((await me(access_token)).status).toBe(200)
    for (const token of tokens) expect([token, (await me(token)).status]).toEqual([token, 401])
  })

  it('ends with its session', async () => {
    const { access_token, refresh_token } = await enter('leaving@example.org')
    expect((await post('/auth/logout', undefined, access_token)).status).toBe(204)
    expect((await me(access_token)).status).toBe(401)
    expect((await post('/auth/refresh', { refresh_token })).status).toBe(401)
  })
})

describe('a refresh token', () => {
  const refresh = (refresh_token: string) => post<SessionTokens & Problem>('/auth/refresh', { refresh_token })
  const day = 86_400_000

  it('continues a session for 30 days after its last use, and for 90 in all', async () => {
    let { refresh_token } = await enter('lasting@example.org')
    for (let turn = 0; turn < 3; turn++) {
      now += 29 * day
      const { status, body } = await refresh(refresh_token)
      expect([turn, status]).toEqual([turn, 200])
      refresh_token = body.refresh_token
    }
    now += 4 * day
    expect((await refresh(refresh_token)).status).toBe(401)
    const idle = await enter('idle@example.org')
    now += 30 * day
    expect((await refresh(idle.refresh_token)).status).toBe(401)
  })

  it('continues a session, once', async () => {
    const first = await enter('staying@example.org')
    now += 60 * minute
    const second = await refresh(first.refresh_token)
    expect([second.status, second.body.refresh_token === first.refresh_token]).toEqual([200, false])
    expect((await me(second.body.access_token)).status).toBe(200)
    expect((await refresh(second.body.refresh_token)).status).toBe(200)
  })

  it('that is used again ends the session for everybody', async () => {
    const stolen = await enter('robbed@example.org')
    const thief = await refresh(stolen.refresh_token)
    expect(thief.status).toBe(200)
    expect((await refresh(stolen.refresh_token)).status).toBe(401)
    expect((await refresh(thief.body.refresh_token)).status).toBe(401)
    expect((await me(thief.body.access_token)).status).toBe(401)
  })

  it('is used once even by many at the same moment', async () => {
    const { refresh_token } = await enter('raced@example.org')
    const answers = await Promise.all(Array.from({ length: 8 }, () => refresh(refresh_token)))
    expect(answers.filter(({ status }) => status === 200).length).toBe(1)
  })

  it('is over after thirty days', async () => {
    const { refresh_token } = await enter('away@example.org')
    now += 30 * 86_400_000 + 1
    expect((await refresh(refresh_token)).status).toBe(401)
  })
})

describe('a browser', () => {
  const open = (token: string, headers: Record<string, string> = {}) =>
    fetch(`${platform.url}/auth/magic-link`, {
      ...{ method: 'POST', body: new URLSearchParams({ token }), redirect: 'manual' },
      headers,
    })
  const cookiesOf = (response: Response) => response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
  const linkFor = async (email: string) => {
    now += 20 * minute
    await ask(email)
    return mails.tokenFor(email)
  }

  it('is signed in by the button, with a cookie that no script can read', async () => {
    const token = await linkFor('browser@example.org')
    const response = await open(token, { origin: platform.url })
    expect(response.status).toBe(200)
    const set = response.headers.getSetCookie()
    expect(set.find((cookie) => cookie.startsWith('svc_access='))).toMatch(/HttpOnly.*SameSite=Lax/)
    expect(set.find((cookie) => cookie.startsWith('svc_csrf='))).not.toContain('HttpOnly')
    expect((await open(token)).status).toBe(401)
  })

  it('reads with its cookie alone, and changes nothing without the token that only its own page can send', async () => {
    const cookie = cookiesOf(await open(await linkFor('csrf@example.org'))).join('; ')
    const [, csrf = ''] = /svc_csrf=([^;]+)/.exec(cookie) ?? []
    const call = (method: string, path: string, headers: Record<string, string>) =>
      platform.call<Account & Problem>(method, path, { as: null, headers: { cookie, ...headers } })
    expect((await call('GET', '/auth/me', {})).body.email).toBe('csrf@example.org')
    for (const sent of [{}, { 'x-csrf-token': '' }, { 'x-csrf-token': `${csrf}x` }])
      expect((await call('POST', '/auth/logout', sent as Record<string, string>)).status).toBe(403)
    expect((await call('GET', '/auth/me', {})).status).toBe(200)
    expect((await call('POST', '/auth/logout', { 'x-csrf-token': csrf })).status).toBe(204)
    expect((await call('GET', '/auth/me', {})).status).toBe(401)
  })

  it("has a token of its own session, and nobody else's", async () => {
    const [theirs, mine] = [await open(await linkFor('a@example.org')), await open(await linkFor('b@example.org'))].map(
      cookiesOf,
    )
    const cookie = mine?.find((one) => one.startsWith('svc_access=')) ?? ''
    const csrf = theirs?.find((one) => one.startsWith('svc_csrf='))?.slice('svc_csrf='.length) ?? ''
    const { status } = await platform.call('POST', '/auth/logout', {
      as: null,
      headers: { cookie, 'x-csrf-token': csrf },
    })
    expect(status).toBe(403)
  })

  it('is not signed in by the page of somebody else', async () => {
    const token = await linkFor('lured@example.org')
    expect((await open(token, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await open(token, { origin: 'null' })).status).toBe(403)
    expect((await spend(token)).status).toBe(200)
  })
})

describe('the encryption key', () => {
  it('is rotated by putting the new one first', async () => {
    const [old, fresh] = [Buffer.alloc(32, 1).toString('base64'), Buffer.alloc(32, 2).toString('hex')]
    const env = { SVC_SMTP_URL: mails.url, SVC_ENCRYPTION_KEY: old }
    now += 20 * minute
    // The processes of a server are told to rotate by a command of their own.
    let own = await startPlatform({ database_url: null, env, clock: () => now })
    await own.call('POST', '/auth/magic-link', { as: null, body: { email: 'rotated@example.org' } })
    const body = { token: await mails.tokenFor('rotated@example.org') }
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
