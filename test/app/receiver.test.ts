// The receiver: what it takes, what it rejects before anything is parsed, and that nothing accepted is lost or done twice.
import { createHmac, randomUUID } from 'node:crypto'
import { createRequire } from 'node:module'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { handlers } from '../../app/handlers/handlers.js'
import { readConfig } from '../../platform/config.js'
import { type Database, openDatabase, withUnscopedTransaction } from '../../platform/db/db.js'
import { type GithubApp, openGithubApp, signature, webhookPath, webhookSecret } from '../support/git/github-app.js'
import { soon } from '../support/server/soon.js'

const newSecret = 'the-new-secret-of-this-test'

let app: GithubApp
let db: Database | null = null
beforeAll(async () => {
  app = await openGithubApp({ env: { SVC_GITHUB_APP_WEBHOOK_SECRET: `${newSecret} ${webhookSecret}` } })
  // Rows are read beside the platform, where the database is a server.
  const { value } = readConfig({ ...app.platform.env })
  if (value.database_url !== null) db = await openDatabase(value)
})
afterAll(async () => {
  await db?.close()
  await app.close()
})

interface Row {
  readonly status: string
  readonly attempts: number
  readonly error: string | null
  readonly is_empty: boolean
}

const rowOf = async (id: string): Promise<Row | null> => {
  if (db === null) throw new Error('no server')
  const text = 'select status, attempts, error, body is null as is_empty from github_deliveries where delivery_id = $1'
  return (await withUnscopedTransaction(db, (tx) => tx.query<Row>(text, [id])))[0] ?? null
}

const push = { ref: 'refs/heads/main', installation: { id: 1 }, repository: { id: 2 } }
const raw = JSON.stringify(push)
const post = (given: string | Uint8Array, headers: Readonly<Record<string, string>>) =>
  app.platform.call('POST', webhookPath, {
    as: null,
    raw: given,
    headers: { 'x-github-delivery': randomUUID(), 'x-github-event': 'push', ...headers },
  })
const signed = (text: string | Uint8Array, secret = webhookSecret) => ({
  'x-hub-signature-256': signature(secret, text),
})

describe('a delivery', () => {
  it.each([webhookSecret, newSecret])('signed with either secret is accepted', async (secret) => {
    expect(await post(raw, signed(raw, secret))).toMatchObject({ status: 202, body: { outcome: 'accepted' } })
  })

  it('is signed over its bytes, whatever they are', async () => {
    const bytes = Buffer.from(JSON.stringify({ ...push, text: '\u0000 \u2028 é 😀 __proto__' }))
    expect(await post(bytes, signed(bytes))).toMatchObject({ status: 202 })
  })

  it('that nothing handles is not stored', async () => {
    const id = randomUUID()
    const text = JSON.stringify({ action: 'labeled', installation: { id: 1 } })
    const headers = { ...signed(text), 'x-github-event': 'issues', 'x-github-delivery': id }
    expect(await post(text, headers)).toMatchObject({ status: 202, body: { outcome: 'ignored' } })
    if (db !== null) expect(await rowOf(id)).toBeNull()
  })

  it('of the event ping is answered', async () => {
    const text = JSON.stringify({ zen: 'Keep it logically awesome.', hook_id: 1 })
    const answer = await post(text, { ...signed(text), 'x-github-event': 'ping' })
    expect(answer).toMatchObject({ status: 200, body: { outcome: 'pong' } })
  })

  it('that comes again is not run again, and keeps no body when it is done', async () => {
    const id = randomUUID()
    const headers = { ...signed(raw), 'x-github-delivery': id }
    const answers = await Promise.all([1, 2, 3].map(() => post(raw, headers)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 202])
    if (db === null) return
    await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ status: 'done' }), soon)
    expect(await post(raw, headers)).toMatchObject({ status: 200, body: { outcome: 'seen' } })
    expect(await rowOf(id)).toEqual({ status: 'done', attempts: 1, error: null, is_empty: true })
  })

  it('that failed runs again when it comes again', async () => {
    if (db === null) return
    const id = randomUUID()
    const failed = `insert into github_deliveries (delivery_id, event, body, status, error, received_at)
      values ($1, 'push', '{}', 'failed', 'out of luck', now())`
    await withUnscopedTransaction(db, (tx) => tx.query(failed, [id]))
    expect(await post(raw, { ...signed(raw), 'x-github-delivery': id })).toMatchObject({ status: 202 })
    await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ status: 'done', is_empty: true }), soon)
  })
})

const sha1 = `sha1=${createHmac('sha1', webhookSecret).update(raw).digest('hex')}`
const right = signature(webhookSecret, raw)

describe('a delivery is rejected', () => {
  it.each([
    ['without a signature', {}, /is missing/],
    ['with an empty signature', { 'x-hub-signature-256': '' }, /is missing/],
    ['that is signed with SHA-1 only', { 'x-hub-signature': sha1 }, /SHA-1 only/],
    ['with SHA-1 in the place of SHA-256', { 'x-hub-signature-256': sha1 }, /must begin with `sha256=`/],
    ['with another algorithm', { 'x-hub-signature-256': right.replace('sha256', 'sha512') }, /must begin with/],
    ['with a bare digest', { 'x-hub-signature-256': right.slice(7) }, /must begin with/],
    ['with a signature that is too short', { 'x-hub-signature-256': right.slice(0, -2) }, /64 hexadecimal digits/],
    ['with a signature that is too long', { 'x-hub-signature-256': `${right}00` }, /64 hexadecimal digits/],
    ['with upper-case digits', { 'x-hub-signature-256': right.toUpperCase().replace('SHA', 'sha') }, /lower case/],
    ['with a signature of other bytes', { 'x-hub-signature-256': signature(webhookSecret, `${raw} `) }, /is wrong/],
    ['with a signature by another secret', { 'x-hub-signature-256': signature('development', raw) }, /is wrong/],
  ])('%s', async (_name, headers, message) => {
    const { status, body } = await post(raw, headers)
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 401,
      code: 'UNAUTHENTICATED',
      detail: expect.stringMatching(message),
    })
    expect(JSON.stringify(body)).not.toContain(webhookSecret)
  })

  it('before it is parsed', async () => {
    for (const text of ['{', '[]', 'payload=%7B%7D', ''])
      expect((await post(text, { 'x-hub-signature-256': right })).status).toBe(401)
  })

  it.each([
    ['a text that is not JSON', '{"a":', 400, /JSON object/],
    ['a list', '[]', 400, /JSON object/],
    ['null', 'null', 400, /JSON object/],
    ['no body', '', 400, /JSON object/],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 400, /UTF-8/],
  ])('with %s', async (_name, text, status, message) => {
    const answer = await post(text, signed(text))
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(message) } })
  })

  it.each([
    [
      'a form',
      { 'content-type': 'application/x-www-form-urlencoded' },
      415,
      /sent as a form: choose `application\/json`/,
    ],
    ['another type', { 'content-type': 'text/plain' }, 415, /content type of the webhook/],
    ['no GUID', { 'x-github-delivery': '1' }, 422, /must be a GUID/],
    ['no event', { 'x-github-event': 'Push\tx' }, 422, /must name an event/],
  ])('with %s', async (_name, headers, status, message) => {
    const answer = await post(raw, { ...signed(raw), ...headers })
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(message) } })
  })

  it('with more than 3 MiB', async () => {
    const text = JSON.stringify({ ...push, filler: 'x'.repeat(3 * 1024 * 1024) })
    expect(await post(text, signed(text))).toMatchObject({ status: 413 })
    const most = JSON.stringify({ ...push, filler: 'x'.repeat(3 * 1024 * 1024 - raw.length - 20) })
    expect(await post(most, signed(most))).toMatchObject({ status: 202 })
  })
})

interface Example {
  readonly name: string
  readonly examples: readonly { readonly action?: string }[]
}

const examples = createRequire(import.meta.url)('@octokit/webhooks-examples') as readonly Example[]
const found = handlers
  .flatMap(({ events }) => events)
  .map((event) => {
    const [name = '', action] = event.split('.')
    const recorded = examples.find((one) => one.name === name)?.examples ?? []
    const same = recorded.filter((one) => action === undefined || one.action === action)
    // Of two actions nothing is recorded: their payloads differ from those of other actions in the action alone.
    const payloads = same.length > 0 ? same : recorded.map((one) => ({ ...one, action }))
    return { event, name, payloads, is_recorded: same.length > 0 }
  })

describe('recorded payloads of GitHub', () => {
  it('exist for all handled actions but these', () => {
    const missing = found.filter(({ is_recorded }) => !is_recorded).map(({ event }) => event)
    expect(missing).toEqual(['pull_request.edited', 'repository.deleted'])
  })

  it.each(found)('of $event are handled', async ({ name, payloads }) => {
    for (const payload of payloads) {
      const text = JSON.stringify(payload)
      const id = randomUUID()
      const answer = await post(text, { ...signed(text), 'x-github-event': name, 'x-github-delivery': id })
      expect(answer).toMatchObject({ status: 202, body: { outcome: 'accepted' } })
      if (db !== null)
        await vi.waitFor(async () => expect(await rowOf(id)).toMatchObject({ status: 'done', attempts: 1 }), soon)
    }
  })
})
