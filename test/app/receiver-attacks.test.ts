// Deliveries that are signed, and hostile: what the receiver takes, every later reader takes. And what a sender without the secret reaches.
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { readConfig } from '../../platform/config.js'
import { type Database, openDatabase, withUnscopedTransaction } from '../../platform/db/db.js'
import { type GithubApp, openGithubApp, signature, webhookPath, webhookSecret } from '../support/git/github-app.js'
import { soon } from '../support/server/soon.js'

let app: GithubApp
let db: Database | null = null
beforeAll(async () => {
  app = await openGithubApp()
  const { value } = readConfig({ ...app.platform.env })
  if (value.database_url !== null) db = await openDatabase(value)
})
afterAll(async () => {
  await db?.close()
  await app.close()
})

const rows = async (where: string, values: readonly unknown[] = []) => {
  if (db === null) return []
  const text = `select status, error, installation_id, action from github_deliveries where ${where}`
  return withUnscopedTransaction(db, (tx) => tx.query<Record<string, unknown>>(text, values))
}
const post = (raw: string, headers: Readonly<Record<string, string>> = {}) =>
  app.platform.call('POST', webhookPath, {
    as: null,
    raw,
    headers: {
      'x-github-delivery': randomUUID(),
      'x-github-event': 'push',
      'x-hub-signature-256': signature(webhookSecret, raw),
      ...headers,
    },
  })

const deep = '['.repeat(500_000) + ']'.repeat(500_000)
const payloads: readonly (readonly [string, string])[] = [
  ['an installation that is null', '{"installation":null,"repository":null}'],
  ['an installation that is a list', '{"installation":[1],"repository":[2]}'],
  ['an id of 0', '{"installation":{"id":0},"repository":{"id":0}}'],
  ['an id below 0', '{"installation":{"id":-7},"repository":{"id":-7}}'],
  ['an id of 2^53', '{"installation":{"id":9007199254740993},"repository":{"id":9007199254740993}}'],
  ['an id of 2^53 - 1', '{"installation":{"id":9007199254740991},"repository":{"id":9007199254740991}}'],
  ['an id beyond every number', '{"installation":{"id":1e400},"repository":{"id":-1e400}}'],
  ['an id that is a text', '{"installation":{"id":"1"},"repository":{"id":"2"}}'],
  ['an id with a fraction', '{"installation":{"id":1.5},"repository":{"id":1.5}}'],
  [
    'members twice',
    '{"installation":{"id":1},"installation":{"id":2},"ref":"x","ref":"refs/heads/main","repository":{"id":2}}',
  ],
  [
    'a prototype',
    '{"__proto__":{"installation":{"id":1}},"constructor":{"prototype":{}},"installation":{"__proto__":{"id":1}}}',
  ],
  ['deep lists', `{"installation":{"id":1},"repository":{"id":2},"deep":${deep}}`],
  ['a deep reference', `{"installation":{"id":1},"repository":{"id":2},"ref":${deep}}`],
  ['a NUL character', '{"installation":{"id":1},"repository":{"id":2},"ref":"refs/heads/\\u0000","action":"\\u0000"}'],
  ['half a character', '{"installation":{"id":1},"repository":{"id":2},"ref":"\\ud800","action":"\\ud800"}'],
  ['an action that is an object', '{"action":{"toString":1},"installation":{"id":1},"repository":{"id":2}}'],
]

describe('a signed delivery with', () => {
  it.each(payloads)('%s is stored, and handled once', async (_, raw) => {
    const id = randomUUID()
    expect(await post(raw, { 'x-github-delivery': id.toUpperCase() })).toMatchObject({ status: 202 })
    if (db !== null)
      await vi.waitFor(
        async () => expect(await rows('delivery_id = $1', [id])).toMatchObject([{ status: 'done' }]),
        soon,
      )
    expect(await post(raw, { 'x-github-delivery': id })).toMatchObject({ status: 200, body: { outcome: 'seen' } })
  })

  it.each(['constructor', '__proto__', 'error', 'toString', 'pull_request.opened'])(
    'the event %s reaches no handler',
    async (event) => {
      const status = (await post('{}', { 'x-github-event': event })).status
      expect(status).toBe(/^[a-z][a-z_]*$/.test(event) ? 202 : 422)
    },
  )

  it.each(['pull_request', 'check_run', 'merge_group', 'installation'])('a %s of nothing is handled', async (event) => {
    for (const action of ['opened', 'rerequested', 'checks_requested', 'created'])
      expect((await post(JSON.stringify({ action }), { 'x-github-event': event })).status).toBe(202)
    if (db !== null)
      await vi.waitFor(async () => expect(await rows(`status <> 'done' and event = $1`, [event])).toEqual([]), soon)
  })
})

/** A request with headers as they are, also the same one twice. */
function raw(headers: readonly string[], body: string): Promise<number> {
  const { hostname, port } = new URL(app.platform.url)
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method: 'POST', path: webhookPath, headers: [...headers] }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? 0)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

describe('a sender without the secret', () => {
  const body = '{"installation":{"id":1},"repository":{"id":2}}'
  const good = signature(webhookSecret, body)
  const common = [
    'host',
    'localhost',
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
    'x-github-event',
    'push',
    'x-github-delivery',
    '6a1f5d6e-0000-4000-8000-000000000001',
  ]
  it.each([
    [
      'two signatures, the first right',
      ['x-hub-signature-256', good, 'x-hub-signature-256', `sha256=${'0'.repeat(64)}`],
    ],
    [
      'two signatures, the last right',
      ['x-hub-signature-256', `sha256=${'0'.repeat(64)}`, 'X-Hub-Signature-256', good],
    ],
    ['a list of signatures', ['x-hub-signature-256', `sha256=${'0'.repeat(64)}, ${good}`]],
    ['an underscore', ['x_hub_signature_256', good]],
    ['a signature of nothing', ['x-hub-signature-256', signature(webhookSecret, '')]],
    ['a signature without a secret', ['x-hub-signature-256', signature('', body)]],
  ])('with %s is rejected', async (_, headers) => {
    expect(await raw([...common, ...headers], body)).toBe(401)
  })

  it('fills no queue', async () => {
    const before = (await rows('true')).length
    for (let sent = 0; sent < 20; sent += 1)
      await Promise.all(
        Array.from({ length: 10 }, () => post(body, { 'x-hub-signature-256': `sha256=${'0'.repeat(64)}` })),
      )
    expect((await rows('true')).length).toBe(before)
  })
})

describe('what is secret', () => {
  it('is in no answer, no metric and no event', async () => {
    const { platform, app: registered } = app
    const answers = await Promise.all(
      ['/metrics', '/api/v1/repos', '/api/v1/events', '/api/v1/jobs', '/readyz', '/api/v1/health', '/openapi.json'].map(
        async (path) => JSON.stringify((await platform.call('GET', path)).body),
      ),
    )
    const key = registered.private_key.split('\n')[5] ?? ''
    expect(key.length).toBeGreaterThan(40)
    for (const text of answers) for (const secret of [webhookSecret, key, 'ghs_']) expect(text).not.toContain(secret)
  })
})
