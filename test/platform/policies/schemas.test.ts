// The schemas of manifests, which the platform serves to editors.
import { documents, type Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => discard(platform))

describe.each(['manifest', 'manifest-tests'] as const)('the schema %s', (name) => {
  const path = `/api/v1/schemas/${name}.json`
  const get = (headers: Record<string, string> = {}) => platform.call('GET', path, { as: null, headers })

  it('is served to anonymous callers, and may be cached', async () => {
    const { status, body, headers } = await get()
    expect([status, body]).toEqual([200, documents[name]])
    expect(headers.get('content-type')).toBe('application/schema+json')
    expect(headers.get('cache-control')).toBe('public, max-age=3600')
    expect(headers.get('etag')).toMatch(/^"[0-9a-f]{32}"$/)
  })

  it('is not sent again to a caller who has it', async () => {
    const etag = (await get()).headers.get('etag') ?? ''
    const statuses = await Promise.all(
      [etag, `W/${etag}`, '"other"'].map(async (tag) => (await get({ 'if-none-match': tag })).status),
    )
    expect(statuses).toEqual([304, 304, 200])
  })

  it('is the same with a credential, valid or not', async () => {
    const wrong = await get({ authorization: 'Bearer not-a-token' })
    const key = await platform.call('GET', path, { as: 'key' })
    expect([wrong.status, key.status, key.body]).toEqual([200, 200, documents[name]])
  })

  it('takes no parameters and no other method', async () => {
    const query = await platform.call<Problem>('GET', `${path}?a=1`, { as: null })
    const post = await platform.call<Problem>('POST', path, { as: null, body: {} })
    expect([query.status, query.body.code, post.status, post.body.code]).toEqual([
      422,
      'INVALID',
      405,
      'METHOD_NOT_ALLOWED',
    ])
    expect(post.headers.get('allow')).toBe('GET')
  })
})

describe('requests for a schema', () => {
  it('do not count as attempts to sign in', async () => {
    const statuses = new Set<number>()
    for (let count = 0; count < 70; count++)
      statuses.add((await platform.call('GET', '/api/v1/schemas/manifest-tests.json', { as: null })).status)
    expect([...statuses]).toEqual([200])
    const email = { email: 'mia@example.org' }
    expect((await platform.call('POST', '/auth/magic-link', { as: null, body: email })).status).toBe(202)
  })

  it('for another name are rejected', async () => {
    const { status, body } = await platform.call<Problem>('GET', '/api/v1/schemas/policy.json', { as: null })
    expect([status, body.code]).toEqual([404, 'NOT_FOUND'])
  })
})
