// The origin of requests: limits, cookies and forms depend on the network and the public address, not on untrusted headers.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../../platform/config.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let mails: MailServer
beforeAll(async () => {
  mails = await startMailServer()
})
afterAll(() => mails.close())

const ask = async (platform: TestPlatform, forwarded: string, email = `${crypto.randomUUID()}@example.org`) => {
  const headers = { 'x-forwarded-for': forwarded }
  const { status } = await platform.call('POST', '/auth/magic-link', { as: null, body: { email }, headers })
  return status
}

describe('the Host header', () => {
  /** The answer to a request that names this host. */
  const named = async (platform: TestPlatform, host: string, path: string) => {
    const asked = request(platform.url + path, { headers: { host } }).end()
    const [answer] = (await once(asked, 'response')) as [IncomingMessage]
    const text = (await answer.toArray()).join('')
    return [answer.statusCode, /"code":"(\w+)"/.exec(text)?.[1] ?? null]
  }

  it('of a platform that only its own machine reaches names that machine', async () => {
    const platform = await startPlatform()
    const { port } = new URL(platform.url)
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      'localhost:9000',
    ])
      expect([host, await named(platform, host, '/livez')]).toEqual([host, [200, null]])
    for (const host of [
      'rebound.example',
      `rebound.example:${port}`,
      `localhost.rebound.example:${port}`,
      '0.0.0.0',
      'a b',
    ])
      for (const path of ['/livez', '/health', '/openapi.json', '/sign-in', '/api/v1/agents', '/nothing'])
        expect([host, path, ...(await named(platform, host, path))]).toEqual([host, path, 421, 'MISDIRECTED'])
    await discard(platform)
  })

  it.each([
    ['a public URL', { SVC_PUBLIC_URL: 'https://svc.example.org' }],
    ['a trusted proxy', { SVC_TRUSTED_PROXIES: '127.0.0.1' }],
    ['an open address', { SVC_HOST: '0.0.0.0' }],
  ])('may have other names with %s', async (_, env) => {
    const platform = await startPlatform({ env })
    expect(await named(platform, 'svc.internal', '/livez')).toEqual([200, null])
    await discard(platform)
  })
})

describe('behind a trusted proxy', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    const env = {
      SVC_SMTP_URL: mails.url,
      SVC_TRUSTED_PROXIES: '127.0.0.1 10.0.0.0/8',
      SVC_RATE_LIMIT_ADDRESS: '3',
      SVC_PUBLIC_URL: 'https://svc.example.org',
    }
    platform = await startPlatform({ env })
  })
  afterAll(() => discard(platform))

  it.each([
    ['one address', ['203.0.113.1', '203.0.113.1', '203.0.113.1', '203.0.113.1'], [202, 202, 202, 429]],
    [
      'an address with forged hops before it',
      ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'].map((one) => `${one}, 203.0.113.2`),
      [202, 202, 202, 429],
    ],
    [
      'an address behind a second trusted proxy',
      ['a', 'b', 'c', 'd'].map((one) => `${one}, 203.0.113.3, 10.1.2.3`),
      [202, 202, 202, 429],
    ],
    [
      'one network of IPv6',
      ['2001:db8:1:2::1', '2001:db8:1:2::2', '2001:DB8:1:2:ffff::3', '2001:db8:1:2:1:2:3:4'],
      [202, 202, 202, 429],
    ],
    [
      'each of several networks',
      ['2001:db8:2::1', '2001:db8:3::1', '2001:db8:4::1', '2001:db8:5::1'],
      [202, 202, 202, 202],
    ],
    [
      'an IPv4-mapped IPv6 address',
      ['198.51.100.1', '::ffff:198.51.100.1', '::FFFF:198.51.100.1', '198.51.100.1'],
      [202, 202, 202, 429],
    ],
  ])('%s has one limit', async (_, addresses, answers) => {
    const found: number[] = []
    for (const one of addresses) found.push(await ask(platform, one))
    expect(found).toEqual(answers)
  })

  const send = async (headers: Record<string, string>) => {
    const email = `${crypto.randomUUID()}@example.org`
    expect(await ask(platform, `192.0.2.${Math.floor(Math.random() * 250)}`, email)).toBe(202)
    const body = new URLSearchParams({ token: await mails.tokenFor(email) })
    const sent = { ...headers, 'x-forwarded-for': email.length.toString() }
    return fetch(`${platform.url}/auth/magic-link`, { method: 'POST', body, headers: sent, redirect: 'manual' })
  }

  it('forms must come from the public address', async () => {
    expect((await send({ origin: platform.url })).status).toBe(403)
    expect((await send({ origin: 'https://svc.example.org' })).status).toBe(303)
  })

  it('cookies have the prefix __Host-', async () => {
    const origin = 'https://svc.example.org'
    const set = (await send({ origin })).headers.getSetCookie()
    expect(set.map((cookie) => cookie.replace(/=[^;]+; Max-Age=\d+/, '').replace(/; Expires=[^;]+/, ''))).toEqual([
      '__Host-svc_access; Path=/; HttpOnly; Secure; SameSite=Lax',
      '__Host-svc_csrf; Path=/; Secure; SameSite=Lax',
    ])
    const [cookie = '', plain = ''] = [set, set.map((one) => one.replace('__Host-', ''))].map((all) =>
      all.map((one) => one.split(';')[0]).join('; '),
    )
    const me = (sent: string) => platform.call('GET', '/auth/me', { as: null, headers: { cookie: sent } })
    expect([(await me(cookie)).status, (await me(plain)).status]).toEqual([200, 401])
    const page = await (await fetch(`${platform.url}/account`, { headers: { cookie } })).text()
    const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
    expect(cookie).toContain(`__Host-svc_csrf=${csrf}`)
    const press = (sent: string) => {
      const body = new URLSearchParams({ act: 'logout', csrf: sent })
      return fetch(`${platform.url}/account`, { method: 'POST', body, headers: { cookie, origin }, redirect: 'manual' })
    }
    await press('other')
    expect((await me(cookie)).status).toBe(200)
    const cleared = (await press(csrf)).headers.getSetCookie()
    expect(cleared.map((one) => one.replace(/Expires=[^;]+/, 'Expires=…'))).toEqual([
      '__Host-svc_access=; Path=/; Expires=…; Secure; SameSite=Lax',
      '__Host-svc_csrf=; Path=/; Expires=…; Secure; SameSite=Lax',
    ])
    expect((await me(cookie)).status).toBe(401)
  })
})

describe('the configuration', () => {
  it.each([
    ['SVC_PUBLIC_URL', 'https://Svc.Example.org:443/', { public_url: 'https://svc.example.org' }],
    ['SVC_PUBLIC_URL', 'HTTP://localhost:8080', { public_url: 'http://localhost:8080' }],
    ['SVC_OWNER_EMAIL', 'Mia@Exämple.org.', { owner_email: 'mia@xn--exmple-cua.org' }],
  ])('normalizes %s %s', (name, text, value) => {
    const reading = readConfig({ [name]: text })
    expect([reading.errors, reading.value]).toMatchObject([[], value])
  })

  it.each(['https://', 'svc.example.org', 'https://svc.example.org/path', 'https://a:b:c'])(
    'rejects the public address %s',
    (text) => expect(readConfig({ SVC_PUBLIC_URL: text }).errors).toEqual([expect.stringContaining('SVC_PUBLIC_URL')]),
  )
})

describe('without a trusted proxy', () => {
  it('X-Forwarded-For is ignored', async () => {
    const platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url, SVC_RATE_LIMIT_ADDRESS: '3' } })
    const found = []
    for (const one of ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4']) found.push(await ask(platform, one))
    expect(found).toEqual([202, 202, 202, 429])
    await discard(platform)
  })
})
