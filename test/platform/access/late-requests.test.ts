// Requests that were allowed when they began, and the cost of requests from anonymous callers.
import { connect } from 'node:net'
import type { ApiKeyList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url }, clock: () => now })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

/** Sends the head of a request and a part of its body; `finish` sends the rest and returns the status. */
async function begun(path: string, token: string, body: string) {
  const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: localhost',
    `authorization: Bearer ${token}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    '',
    '',
  ].join('\r\n')
  await new Promise<void>((resolve) => socket.write(head + body.slice(0, 3), () => resolve()))
  // The request is authenticated once later requests are answered.
  for (let turn = 0; turn < 3; turn++) await platform.call('GET', '/auth/api-keys')
  return {
    finish: () =>
      new Promise<number>((resolve, reject) => {
        let answer = ''
        socket.setEncoding('utf8').on('data', (text: string) => {
          answer += text
        })
        socket.once('error', reject)
        socket.once('close', () => resolve(Number(/^HTTP\/1.1 (\d+)/.exec(answer)?.[1])))
        socket.write(body.slice(3))
      }),
  }
}

describe('a request with a late body', () => {
  it.each(['is logged out', 'is suspended', 'is removed'])('is rejected when its sender %s meanwhile', async (how) => {
    now += 900_000
    const [owner, admin] = [
      await signedIn(platform, mails, `owner-of-${how.replaceAll(' ', '-')}@example.org`),
      await signedIn(platform, mails, `admin-who-${how.replaceAll(' ', '-')}@example.org`),
    ]
    const path = `/auth/workspaces/${owner.org_id}`
    await owner.call('POST', `${path}/promote`, { name: 'Acme' })
    await join(owner, admin, owner.org_id, 'admin')
    const prompt = await begun('/auth/api-keys', admin.token, '{"name":"in time"}')
    expect(await prompt.finish()).toBe(201)
    const late = await begun('/auth/api-keys', admin.token, '{"name":"too late"}')
    if (how === 'is logged out') expect((await admin.call('POST', '/auth/logout')).status).toBe(204)
    else {
      const verb = how === 'is removed' ? 'remove' : 'suspend'
      expect((await owner.call('POST', `${path}/members/${admin.id}/${verb}`)).status).toBe(204)
    }
    now += 1_001
    expect(await late.finish()).toBe(how === 'is logged out' ? 401 : 403)
    const { api_keys } = (await owner.call<ApiKeyList>('GET', '/auth/api-keys')).body
    expect(api_keys.map(({ name }) => name)).toEqual(['in time'])
  })
})

describe('a right that is lost during a request', () => {
  it.each([
    ['/auth/api-keys', '{"name":"too late"}'],
    ['/api/v1/holds', '{"reason":"too late"}'],
    ['/api/v1/retention', '{"retention_days":200}'],
  ])('is not used: POST %s', async (path, body) => {
    now += 900_000
    const name = path.replaceAll(/\W/g, '')
    const owner = await signedIn(platform, mails, `owner${name}@example.org`)
    const admin = await signedIn(platform, mails, `admin${name}@example.org`)
    await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
    await join(owner, admin, owner.org_id, 'admin')
    const late = await begun(path, admin.token, body)
    const suspended = await owner.call('POST', `/auth/workspaces/${owner.org_id}/members/${admin.id}/suspend`)
    expect(suspended.status).toBe(204)
    // The clock has not moved, so the sender is not authenticated again.
    expect(await late.finish()).toBe(403)
  })
})

describe('an anonymous caller', () => {
  const post = (path: string, raw: string, headers: Record<string, string> = {}) =>
    platform.call<Problem>('POST', path, { as: null, raw, headers })

  it('can send small bodies only, and is counted before its body is read', async () => {
    now += 900_000
    const large = JSON.stringify(Object.fromEntries(Array.from({ length: 2000 }, (_, at) => [`key${at}`, at])))
    expect((await post('/auth/magic-link', large)).status).toBe(413)
    const many = JSON.stringify(Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`k${at}`, at])))
    const { status, body } = await post('/auth/magic-link', many)
    expect([status, body.errors.length]).toEqual([422, 50])
    const answers = new Set<number>()
    for (let count = 0; count < 60; count++) answers.add((await post('/auth/magic-link', '{')).status)
    expect([...answers]).toEqual([400, 429])
  })

  it('is rejected with a form of another origin', async () => {
    now += 900_000
    const email = JSON.stringify({ email: 'a@example.org' })
    expect((await post('/auth/magic-link', email, { origin: 'https://evil.example' })).status).toBe(403)
    expect((await post('/auth/magic-link', email, { origin: platform.url })).status).toBe(202)
  })
})

describe('a response', () => {
  it('is not cached', async () => {
    for (const path of ['/auth/me', '/auth/api-keys', '/api/v1/agents'])
      expect((await platform.call('GET', path)).headers.get('cache-control')).toBe('no-store')
  })
})
