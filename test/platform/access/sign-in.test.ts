// Sign-in links: they work once, for 15 minutes, and only for their recipient.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { minute, openSignIn, type SignInSite } from '../../support/people/sign-in.js'

let site: SignInSite
beforeAll(async () => {
  site = await openSignIn()
})
afterAll(() => site.close())

/** Addresses that reach another mailbox, or that are read as something else. */
const rejected = [
  '<victim@example.org',
  'vic<tim@example.org',
  'victim@example.org>',
  '"victim"@example.org',
  'v\\ictim@example.org',
  'a,b@example.org',
  'a@[127.0.0.1]',
  'https://evil.example/?x=1&@example.org',
  'a\u202egro@example.org',
  '(a)b@example.org',
  'a;b@example.org',
]

describe('a sign-in link', () => {
  it('creates an account with a personal workspace', async () => {
    const { access_token } = await site.signIn('New.Person@Example.org')
    const { status, body } = await site.me(access_token)
    expect([status, body.email, body.is_capped, body.is_suspended]).toEqual([
      200,
      'new.person@example.org',
      false,
      false,
    ])
    expect(body.workspaces).toMatchObject([{ kind: 'personal', role: 'owner', is_suspended: false }])
    expect(body.current_workspace).toBe(body.workspaces[0]?.org_id)
  })

  it('signs in the existing account for any spelling of its address', async () => {
    const first = await site.me((await site.signIn('again@example.org')).access_token)
    const second = await site.me((await site.signIn('AGAIN@Example.org')).access_token)
    expect(second.body.id).toBe(first.body.id)
  })

  it('works once, for 15 minutes', async () => {
    site.clock.now += 20 * minute
    await site.requestLink('once@example.org')
    const token = await site.mails.tokenFor('once@example.org')
    expect((await site.redeem(token)).status).toBe(200)
    expect((await site.redeem(token)).status).toBe(401)
    site.clock.now += 20 * minute
    await site.requestLink('once@example.org')
    const late = await site.mails.tokenFor('once@example.org')
    site.clock.now += 15 * minute + 1
    expect((await site.redeem(late)).status).toBe(401)
  })

  it('stays valid when a mail scanner only opens it', async () => {
    site.clock.now += 20 * minute
    await site.requestLink('scanned@example.org')
    const token = await site.mails.tokenFor('scanned@example.org')
    for (let visits = 0; visits < 3; visits++) {
      const page = await fetch(`${site.platform.url}/auth/magic-link?token=${token}`)
      const text = await page.text()
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(text).toContain('<form method="post"')
      expect(page.headers.get('cache-control')).toBe('no-store')
      expect(page.headers.get('referrer-policy')).toBe('same-origin')
    }
    expect((await site.redeem(token)).status).toBe(200)
  })

  it.each(['"><script>alert(1)</script>', '{{7*7}}', '%0d%0aset-cookie: a=b'])(
    'opens a page that escapes the token %s',
    async (text) => {
      const page = await fetch(`${site.platform.url}/auth/magic-link?token=${encodeURIComponent(text)}`)
      expect(await page.text()).not.toContain('<script>')
      expect(page.headers.get('set-cookie')).toBeNull()
    },
  )

  it.each(['x'.repeat(43), 'SvcRefresh-'.padEnd(54, 'x'), '../../../../etc/passwd', ' '.repeat(30)])(
    'is rejected with the invalid token %s',
    async (token) => {
      expect([401, 422]).toContain((await site.redeem(token)).status)
    },
  )

  it('is requested with a valid address, and the response does not reveal whether it has an account', async () => {
    site.clock.now += 20 * minute
    for (const email of ['', 'x', 'a b@example.org', 'a@b\r\nBcc: c@d', 42, ...rejected])
      expect([email, (await site.requestLink(email as string)).status]).toEqual([email, 422])
    // Forms accept the same addresses as the API.
    for (const email of rejected) {
      const form = { method: 'POST', body: new URLSearchParams({ email }) }
      expect([email, (await fetch(`${site.platform.url}/sign-in`, form)).status]).toEqual([email, 422])
    }
    const answers = [await site.requestLink('known@example.org'), await site.requestLink('unknown@example.org')]
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [202, ''],
      [202, ''],
    ])
  })

  it('signs in the browser that opens it, not the one that requested it', async () => {
    site.clock.now += 20 * minute
    const requested = await fetch(`${site.platform.url}/sign-in`, {
      method: 'POST',
      body: new URLSearchParams({ email: 'two-browsers@example.org' }),
    })
    expect([requested.status, requested.headers.getSetCookie()]).toEqual([200, []])
    const token = await site.mails.tokenFor('two-browsers@example.org')
    const opened = await fetch(`${site.platform.url}/auth/magic-link?token=${token}`)
    expect([await opened.text(), opened.headers.getSetCookie()]).toEqual([
      expect.stringContaining('two-browsers@example.org'),
      [],
    ])
    const pressed = await fetch(`${site.platform.url}/auth/magic-link`, {
      method: 'POST',
      body: new URLSearchParams({ token }),
      redirect: 'manual',
    })
    expect(pressed.headers.getSetCookie().length).toBe(2)
    const again = await fetch(`${site.platform.url}/auth/magic-link?token=${token}`)
    expect([again.status, again.headers.getSetCookie()]).toEqual([401, []])
  })

  it.each([
    ['too many fields', '/sign-in', 'a=1&'.repeat(12), 413],
    ['too many fields', '/auth/magic-link', 'a=1&'.repeat(12), 413],
    ['an unsupported charset', '/sign-in', null, 415],
  ])('rejects a form with %s', async (_, path, body, status) => {
    site.clock.now += 20 * minute
    const type = `application/x-www-form-urlencoded${body === null ? '; charset=utf-7' : ''}`
    const headers = { 'content-type': type, accept: 'text/html,*/*' }
    const answer = await fetch(site.platform.url + path, {
      method: 'POST',
      headers,
      body: body ?? 'email=a@example.org',
    })
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'text/html; charset=utf-8'])
  })

  it('shows an unknown path as a page to a browser and as a problem to a program', async () => {
    const look = (accept: string) => fetch(`${site.platform.url}/nowhere/<b>`, { headers: { accept } })
    const page = await look('text/html,application/xhtml+xml,*/*;q=0.8')
    expect([page.status, await page.text()]).toEqual([
      404,
      expect.stringContaining('This path does not exist: see /docs.'),
    ])
    expect((await look('*/*')).headers.get('content-type')).toContain('application/problem+json')
  })

  it('shows a browser over the limit when to retry', async () => {
    site.clock.now += 20 * minute
    const send = () =>
      fetch(`${site.platform.url}/sign-in`, {
        method: 'POST',
        headers: { accept: 'text/html' },
        body: new URLSearchParams({ email: 'eager@example.org' }),
      })
    for (let count = 0; count < 5; count++) expect((await send()).status).toBe(200)
    const limited = await send()
    expect([limited.status, Number(limited.headers.get('retry-after')) > 0]).toEqual([429, true])
    expect(await limited.text()).toMatch(/ in \d+ s\./)
  })

  it('is requested by the sign-in page, and by no page of another origin', async () => {
    site.clock.now += 20 * minute
    const send = (origin: string) =>
      fetch(`${site.platform.url}/sign-in`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({ email: 'page@example.org' }),
      })
    expect(await (await fetch(`${site.platform.url}/sign-in`)).text()).toContain('name="email"')
    expect((await send('https://evil.example')).status).toBe(403)
    expect((await send(site.platform.url)).status).toBe(200)
    expect(await site.mails.tokenFor('page@example.org')).toHaveLength(43)
  })

  it('does not reveal that the mail server rejects an address', async () => {
    site.clock.now += 20 * minute
    expect((await site.requestLink('rejected@example.org')).status).toBe(202)
    expect(site.mails.mailsTo('rejected@example.org')).toEqual([])
  })

  it('is sent to a mailbox at most five times in 15 minutes', async () => {
    site.clock.now += 60 * minute
    for (let count = 0; count < 5; count++) expect((await site.requestLink('often@example.org')).status).toBe(202)
    const { status, headers, body } = await site.requestLink('Often@example.org')
    expect([status, body.code]).toEqual([429, 'RATE_LIMITED'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(100)
    expect((await site.requestLink('seldom@example.org')).status).toBe(202)
    site.clock.now += 15 * minute
    expect((await site.requestLink('often@example.org')).status).toBe(202)
  })
})
