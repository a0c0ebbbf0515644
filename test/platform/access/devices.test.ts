// Device authorizations (RFC 8628): the API, the page and the command `svc login`.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Account, DeviceCode, OauthError, Problem, SessionTokens } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startLogin, startSvc } from '../../support/cli/svc.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { browserOf, csrfIn, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let offset = 0
let mails: MailServer
let platform: TestPlatform
let person: SignedIn
const post = <T = Problem>(path: string, body: unknown) => platform.call<T>('POST', path, { as: null, body })
const begin = async () => (await post<DeviceCode>('/auth/device/code', {})).body
const poll = async (device_code: string) => {
  offset += 5_001
  return post<SessionTokens & OauthError>('/auth/device/token', { device_code })
}
const decide = (user_code: string, decision: 'approve' | 'deny', by = person) =>
  by.call<Problem>('POST', '/auth/device/decision', { user_code, decision })

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url }, clock: () => Date.now() + offset })
  person = await signedIn(platform, mails, 'person@example.org')
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('a program', () => {
  it('gets tokens once a person approves it, once', async () => {
    const { device_code, user_code, verification_uri, verification_uri_complete, interval } = await begin()
    expect([verification_uri, interval]).toEqual([`${platform.url}/device`, 5])
    expect(verification_uri_complete).toContain(user_code)
    expect((await poll(device_code)).body.error).toBe('authorization_pending')
    expect((await decide(user_code.toLowerCase().replace('-', ' '), 'approve')).status).toBe(204)
    const { status, body } = await poll(device_code)
    expect(status).toBe(200)
    const me = await platform.call<Account>('GET', '/auth/me', { as: body.access_token })
    expect(me.body.email).toBe(person.email)
    expect((await poll(device_code)).body.error).toBe('invalid_grant')
    expect((await decide(user_code, 'approve')).status).toBe(404)
  })

  it('can be denied by the person who approved it, until it has its tokens', async () => {
    const { device_code, user_code } = await begin()
    const other = await signedIn(platform, mails, 'other@example.org')
    expect((await decide(user_code, 'approve')).status).toBe(204)
    expect((await decide(user_code, 'deny', other)).status).toBe(404)
    expect((await decide(user_code, 'deny')).status).toBe(204)
    expect((await decide(user_code, 'approve')).status).toBe(404)
    expect((await poll(device_code)).body.error).toBe('access_denied')
  })

  it('is denied, or expires after ten minutes', async () => {
    const [denied, late] = [await begin(), await begin()]
    await decide(denied.user_code, 'deny')
    expect((await poll(denied.device_code)).body.error).toBe('access_denied')
    offset += 600_000
    expect((await poll(late.device_code)).body.error).toBe('expired_token')
    expect((await decide(late.user_code, 'approve', await signedIn(platform, mails, 'late@example.org'))).status).toBe(
      404,
    )
  })

  it('gets slow_down, which makes its interval five seconds longer each time', async () => {
    const { device_code, user_code } = await begin()
    const after = async (ms: number) => {
      offset += ms
      return (await post<OauthError>('/auth/device/token', { device_code })).body.error
    }
    // The test runs on the clock of the machine, so it leaves a second on each side.
    expect(await after(0)).toBe('authorization_pending')
    expect(await after(1_000)).toBe('slow_down')
    expect(await after(6_000)).toBe('slow_down')
    expect(await after(13_000)).toBe('slow_down')
    expect(await after(21_000)).toBe('authorization_pending')
    await decide(user_code, 'approve')
    expect(await after(18_000)).toBe('slow_down')
    expect(await after(26_000)).toBeUndefined()
  })

  it('cannot be approved by guessing', async () => {
    const guesser = await signedIn(platform, mails, 'guesser@example.org')
    const answers = []
    for (let tries = 0; tries < 12; tries++) answers.push((await decide('BBBB-BBBB', 'approve', guesser)).status)
    expect(answers).toEqual([...Array(10).fill(404), 429, 429])
  })
})

const grant = 'urn:ietf:params:oauth:grant-type:device_code'
const form = 'application/x-www-form-urlencoded'

/** Requests of an OAuth client that do not return tokens; `CODE` stands for a new device code. */
const rejected: readonly { what: string; type?: string; body: string; error: OauthError['error']; names?: string }[] = [
  { what: 'an undecided code', body: `grant_type=${grant}&device_code=CODE`, error: 'authorization_pending' },
  {
    what: 'a client, a scope and more',
    error: 'authorization_pending',
    body: `grant_type=${encodeURIComponent(grant)}&device_code=CODE&client_id=x&scope=a+b&other=1`,
  },
  { what: 'an unknown code', body: `grant_type=${grant}&device_code=none`, error: 'invalid_grant' },
  {
    what: 'another grant',
    body: 'grant_type=password&username=mia',
    error: 'unsupported_grant_type',
    names: 'grant_type',
  },
  { what: 'no grant', body: 'device_code=CODE', error: 'invalid_request', names: 'grant_type' },
  { what: 'no code', body: `grant_type=${grant}`, error: 'invalid_request', names: 'device_code' },
  { what: 'an empty code', body: `grant_type=${grant}&device_code=`, error: 'invalid_request', names: 'device_code' },
  {
    what: 'a code sent twice',
    error: 'invalid_request',
    names: 'device_code',
    body: `grant_type=${grant}&device_code=CODE&device_code=CODE`,
  },
  { what: 'an empty form', body: '', error: 'invalid_request', names: 'grant_type' },
  {
    what: 'a charset',
    type: `${form}; charset=UTF-8`,
    body: `grant_type=${grant}&device_code=CODE`,
    error: 'authorization_pending',
  },
  {
    what: 'JSON',
    type: 'application/json',
    body: `{"grant_type":"${grant}","device_code":"CODE"}`,
    error: 'authorization_pending',
  },
  {
    what: 'JSON without a grant',
    type: 'application/json',
    body: '{"device_code":"CODE"}',
    error: 'authorization_pending',
  },
  {
    what: 'JSON of another grant',
    type: 'application/json',
    body: '{"grant_type":"x"}',
    error: 'unsupported_grant_type',
  },
  { what: 'JSON without a code', type: 'application/json', body: '{}', error: 'invalid_request', names: 'device_code' },
  {
    what: 'JSON with a number',
    type: 'application/json',
    body: '{"device_code":1}',
    error: 'invalid_request',
    names: 'device_code',
  },
  { what: 'broken JSON', type: 'application/json', body: '{', error: 'invalid_request' },
]

describe('an OAuth client (RFC 8628)', () => {
  const send = async (path: string, body: string, type = form) => {
    const response = await fetch(platform.url + path, { method: 'POST', body, headers: { 'content-type': type } })
    return { response, body: (await response.json()) as Record<string, unknown> }
  }

  it.each(rejected)('gets $error for $what', async ({ type, body, error, names = '' }) => {
    const { device_code } = await begin()
    const answer = await send('/auth/device/token', body.replaceAll('CODE', device_code), type)
    expect([answer.response.status, answer.response.headers.get('cache-control')]).toEqual([400, 'no-store'])
    expect(answer.response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(answer.body).toEqual({ error, error_description: expect.stringContaining(names) })
  })

  it.each(['client_id=x&scope=openid', ''])('starts with the form %j and ends with tokens', async (body) => {
    const { response, body: code } = await send('/auth/device/code', body)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(code).toEqual({
      device_code: expect.any(String),
      user_code: expect.stringMatching(/^[B-Z]{4}-[B-Z]{4}$/),
      verification_uri: `${platform.url}/device`,
      verification_uri_complete: `${platform.url}/device?user_code=${code.user_code}`,
      expires_in: 600,
      interval: 5,
    })
    expect((await decide(String(code.user_code), 'approve')).status).toBe(204)
    const asked = new URLSearchParams({ grant_type: grant, device_code: String(code.device_code) }).toString()
    const tokens = await send('/auth/device/token', asked)
    expect([tokens.response.status, tokens.response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const given = { access_token: expect.any(String), refresh_token: expect.any(String) }
    expect(tokens.body).toEqual({ ...given, token_type: 'Bearer', expires_in: 900 })
    offset += 5_001
    expect((await send('/auth/device/token', asked)).body.error).toBe('invalid_grant')
  })

  it('gets the problem of every endpoint for another media type', async () => {
    const { response, body } = await send('/auth/device/token', 'x', 'text/plain')
    expect([response.status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })

  it('cannot send forms to other endpoints', async () => {
    const { response, body } = await send('/auth/refresh', 'refresh_token=x')
    expect([response.status, body.code]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
  })
})

describe('the device page', () => {
  const signIn = async (email: string) => {
    offset += 900_000
    return browserOf(platform, mails, email)
  }
  const send = (cookie: string, form: Record<string, string>, headers: Record<string, string> = {}) =>
    fetch(`${platform.url}/device`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { cookie, ...headers },
    })

  it('asks anonymous visitors to sign in first', async () => {
    const page = await fetch(`${platform.url}/device?user_code=BCDF-GHJK`)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Sign in first')])
  })

  it('approves a program by its button, and rejects forms of other pages', async () => {
    const cookie = await signIn('browser@example.org')
    const { user_code, device_code } = await begin()
    const page = await (await fetch(`${platform.url}/device?user_code=${user_code}`, { headers: { cookie } })).text()
    expect(page).toContain(`value="${user_code}"`)
    const csrf = csrfIn(page)
    const form = { user_code, decision: 'approve' }
    expect((await send(cookie, form)).status).toBe(403)
    expect((await send(cookie, { ...form, csrf: 'x' })).status).toBe(403)
    expect((await send(cookie, { ...form, csrf }, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await poll(device_code)).body.error).toBe('authorization_pending')
    expect((await send(cookie, { ...form, csrf })).status).toBe(200)
    expect((await poll(device_code)).status).toBe(200)
    expect((await send(cookie, { ...form, csrf })).status).toBe(404)
  })

  it('recognizes a browser for 12 hours', async () => {
    const cookie = await signIn('working@example.org')
    const page = async () => (await fetch(`${platform.url}/device`, { headers: { cookie } })).text()
    offset += 11 * 3_600_000
    expect(await page()).toContain('Approve')
    offset += 3_600_001
    expect(await page()).toContain('Sign in first')
  })

  it.each(['\0@example.org', 'a@b\0c', 'a@b\r\nBcc: c@d', 'x', '', 'a@'.padEnd(300, 'x')])(
    'sends no link to %j',
    async (email) => {
      const body = new URLSearchParams({ email })
      expect((await fetch(`${platform.url}/sign-in`, { method: 'POST', body })).status).toBe(422)
      expect((await fetch(`${platform.url}/sign-in`, { method: 'POST' })).status).toBe(422)
      expect((await fetch(`${platform.url}/device`, { method: 'POST' })).status).toBe(403)
      expect(
        (await fetch(`${platform.url}/auth/magic-link`, { method: 'POST', body: new URLSearchParams() })).status,
      ).toBe(401)
    },
  )

  it('escapes the code in the URL', async () => {
    const cookie = await signIn('markup@example.org')
    const page = await fetch(`${platform.url}/device?user_code=${encodeURIComponent('"><script>x')}`, {
      headers: { cookie },
    })
    expect(await page.text()).not.toContain('<script>')
  })
})

describe('svc login', () => {
  it('logs in, prints the account, and logs out', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-config-'))
    const env = { SVC_CONFIG_DIR: folder }
    const run = async (...args: string[]) => startSvc(args, env).finished
    expect((await run('whoami')).code).toBe(1)
    const login = await startLogin(['--url', `${platform.url}/`], env)
    const user_code = login.address.searchParams.get('user_code') ?? ''
    const helper = await signedIn(platform, mails, 'helper@example.org')
    expect((await decide(user_code, 'approve', helper)).status).toBe(204)
    const { code, stdout, stderr } = await login.finished
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain('logged in as helper@example.org')
    const path = join(folder, 'session.json')
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o077).toBe(0)
    const who = await run('whoami')
    expect([who.code, who.stdout]).toEqual([0, expect.stringMatching(/^helper@example\.org at http.*, owner\n$/)])
    expect(JSON.parse((await run('whoami', '--json')).stdout)).toMatchObject({ email: 'helper@example.org' })
    // The command refreshes an expired token.
    const before = readFileSync(path, 'utf8')
    rmSync(path)
    writeFileSync(path, before.replace(/"until": \d+/, '"until": 1'))
    expect((await run('whoami')).code).toBe(0)
    expect(readFileSync(path, 'utf8')).not.toBe(before)
    // Concurrent commands refresh it once: the second use of a refresh token would end the session.
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"until": \d+/, '"until": 1'))
    const together = await Promise.all(Array.from({ length: 4 }, () => run('whoami')))
    expect(together.map(({ code }) => code)).toEqual([0, 0, 0, 0])
    expect((await run('whoami')).code).toBe(0)
    expect(await run('logout')).toMatchObject({ code: 0, stdout: 'logged out\n' })
    expect((await run('whoami')).code).toBe(1)
    expect(await run('login', '--url', 'http://127.0.0.1:1')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not answer'),
    })
    rmSync(folder, { recursive: true })
  })
})
