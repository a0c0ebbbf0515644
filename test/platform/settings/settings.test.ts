// The settings of a workspace as one document: exported, compared, and applied whole.
import { readFileSync } from 'node:fs'
import type {
  Action,
  EventList,
  Problem,
  Retention,
  SettingsComparison,
  SettingsDocument,
  SettingsResult,
  View,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { makeAction } from '../../support/http/actions.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

interface Wrong {
  readonly path: string
  readonly line: number
  readonly says: string
}
interface Rejected {
  readonly name: string
  readonly text: string
  readonly errors: readonly Wrong[]
}
interface Compared {
  readonly name: string
  readonly text: string
  readonly changes: readonly string[]
  readonly left_alone?: readonly string[]
  readonly unchanged: number
  readonly notes?: readonly string[]
}
const cases = parse(readFileSync(new URL('../../cases/settings.yaml', import.meta.url), 'utf8')) as {
  readonly rejected: readonly Rejected[]
  readonly compared: readonly Compared[]
}

const address = 'https://desk.example.org/hooks/abcdefghijklmnopqrst'
let platform: TestPlatform
const ids: Record<string, string> = {}
beforeAll(async () => {
  platform = await startPlatform({ env: { SVC_CHECKPOINT_SECONDS: '0' } })
  await makeAction(platform, { name: 'desk', config: { url: address } })
  for (const name of ['pair', 'pair2']) {
    const { action } = await makeAction(platform, { name: 'pair', config: { url: `https://${name}.example.org/` } })
    ids[name] = action.id
  }
  await make('incidents', 'severe', 'min_severity=high')
})
afterAll(() => discard(platform))

const make = (list: string, name: string, query: string) =>
  platform.call<View>('POST', '/api/v1/views', { body: { list, name, query } })
const compare = (text: string) =>
  platform.call<SettingsComparison & Problem>('POST', '/api/v1/settings/compare', { body: { text } })
const apply = (text: string, digest?: string) =>
  platform.call<SettingsResult & Problem>('POST', '/api/v1/settings/apply', { body: { text, digest } })
const exported = async () => (await platform.call<SettingsDocument>('GET', '/api/v1/settings')).body
const events = async () =>
  (await platform.call<EventList>('GET', '/api/v1/events?limit=200')).body.events.map(({ kind }) => kind).reverse()
const sentences = (list: readonly { readonly sentence: string }[]) => list.map(({ sentence }) => sentence)

describe('a document', () => {
  it.each(cases.rejected)('is rejected with $name, at its field and its line', async ({ text, errors }) => {
    const before = await events()
    for (const call of [compare, apply]) {
      const { status, body } = await call(text)
      expect([status, body.code]).toEqual([422, 'INVALID'])
      const found = body.errors.map(({ path, line }) => ({ path, line }))
      expect(found).toEqual(errors.map(({ path, line }) => ({ path, line })))
      for (const [index, { says }] of errors.entries())
        expect(body.errors[index]?.message).toContain(says.replaceAll(/\{(\w+)\}/g, (_, name) => `\`${ids[name]}\``))
    }
    expect(await events()).toEqual(before)
  })

  it.each(cases.compared)(
    'with $name is compared in words',
    async ({ text, changes, left_alone, unchanged, notes = [] }) => {
      const before = await events()
      const { status, body } = await compare(text)
      expect([status, sentences(body.changes ?? []), body.unchanged]).toEqual([200, changes, unchanged])
      if (left_alone !== undefined) expect(sentences(body.left_alone)).toEqual(left_alone)
      expect(body.notes).toEqual(notes.map((note) => expect.stringContaining(note)))
      expect(await events()).toEqual(before)
    },
  )

  it('has a limited size', async () => {
    const text = `version: 1\n# ${'x'.repeat(262_144)}\n`
    expect((await compare(text)).body.errors?.map(({ path }) => path)).toEqual(['text'])
    const bytes = `version: 1\n# ${'ü'.repeat(140_000)}\n`
    expect((await compare(bytes)).body.errors).toMatchObject([
      { path: 'text', message: expect.stringContaining('256 KiB') },
    ])
    const body = { text: 'x'.repeat(1_100_000) }
    expect((await platform.call('POST', '/api/v1/settings/apply', { body })).status).toBe(413)
  })

  it('changes no prototype', async () => {
    await compare('version: 1\n"__proto__": {enabled: false}\n')
    await compare('{"version": 1, "actions": [{"__proto__": {"polluted": true}}]}')
    expect(Object.hasOwn(Object.prototype, 'polluted') || Object.hasOwn(Object.prototype, 'enabled')).toBe(false)
  })
})

describe('the export', () => {
  it('states settings by value, without secrets and in one order', async () => {
    const document = await exported()
    expect(document).toMatchObject({ version: 1, retention: { retention_days: 365 } })
    expect(document.actions?.map(({ name }) => name)).toEqual(['desk', 'pair', 'pair'])
    expect(document.actions?.[0]?.config).toEqual({ url: 'https://desk.example.org/hooks/…qrst' })
    expect(document.views).toEqual([{ list: 'incidents', name: 'severe', query: 'min_severity=high' }])
    expect(JSON.stringify(document)).not.toMatch(/whsec_|abcdefgh|act_|view_/)
  })

  it('is YAML with `format` and with `Accept`', async () => {
    const document = await exported()
    for (const [query, accept] of [
      ['?format=yaml', '*/*'],
      ['', 'application/yaml'],
    ]) {
      const headers = { accept: accept ?? '' }
      const { status, headers: got, body } = await platform.call<string>('GET', `/api/v1/settings${query}`, { headers })
      expect([status, got.get('content-type')]).toEqual([200, 'application/yaml; charset=utf-8'])
      expect(got.get('content-disposition')).toBe('attachment; filename="settings.yaml"')
      expect(parse(body)).toEqual(document)
    }
    expect((await platform.call('GET', '/api/v1/settings?format=toml')).status).toBe(422)
  })

  it('applied to its own workspace changes nothing and records no event', async () => {
    const own = await startPlatform({ env: { SVC_CHECKPOINT_SECONDS: '0' } })
    try {
      const texts = ['yes', '- a: b', '"quoted"', "it's", '# no comment', '1e3', 'null', '*a', '{{7*7}}', '日本 ☃', '…']
      for (const name of texts) {
        await makeAction(own, { name, config: { url: address }, min_severity: 'low' })
        const query = `q=${encodeURIComponent(name)}`
        expect((await own.call('POST', '/api/v1/views', { body: { list: 'agents', name, query } })).status).toBe(201)
      }
      const { body: text } = await own.call<string>('GET', '/api/v1/settings?format=yaml')
      const seen = async () => (await own.call<EventList>('GET', '/api/v1/events?limit=1')).body.total
      const before = await seen()
      const { status, body } = await own.call<SettingsResult>('POST', '/api/v1/settings/apply', { body: { text } })
      expect([status, body]).toEqual([
        200,
        { changes: [], left_alone: [], unchanged: 1 + 2 * texts.length, notes: [], made: [] },
      ])
      expect(await seen()).toBe(before)
    } finally {
      await discard(own)
    }
  })
})

describe('applying a document', () => {
  const document = {
    version: 1,
    retention: { retention_days: 500 },
    actions: [
      { name: 'desk', kind: 'webhook', on: ['log.invalid'], config: { url: 'https://desk.example.org/hooks/…qrst' } },
      { name: 'new', kind: 'webhook', on: 'trace.gap', enabled: false, config: { url: 'https://new.example.org/x' } },
      { name: 'chat', kind: 'slack', on: 'trace.gap', config: { url: 'https://hooks.slack.com/services/T/B/4xyz' } },
    ],
    views: [
      { list: 'incidents', name: 'severe', query: 'min_severity=critical' },
      { list: 'tasks', name: 'failed', query: 'status=error' },
    ],
  }

  it('makes every change in one transaction, with its event, and shows new secrets once', async () => {
    const before = await events()
    const { body: shown } = await compare(stringify(document))
    const { status, body } = await apply(stringify(document), shown.digest)
    expect([status, body.changes]).toEqual([200, shown.changes])
    expect(body.made.map(({ action, secret }) => [action.name, action.enabled, secret?.slice(0, 6) ?? null])).toEqual([
      ['new', false, 'whsec_'],
      ['chat', true, null],
    ])
    expect((await events()).slice(before.length)).toEqual([
      'retention.changed',
      'action.updated',
      'action.created',
      'action.created',
      'view.deleted',
      'view.created',
      'view.created',
    ])
    const now = await exported()
    expect(now.views).toEqual(document.views)
    expect(now.actions?.map(({ name, on }) => [name, on])).toEqual([
      ['chat', ['trace.gap']],
      ['desk', ['log.invalid']],
      ['new', ['trace.gap']],
      ['pair', ['incident.created']],
      ['pair', ['incident.created']],
    ])
    expect((await platform.call<Retention>('GET', '/api/v1/retention')).body.retention_days).toBe(500)
    const again = await apply(stringify(document))
    expect([again.status, again.body.changes, again.body.made, again.body.unchanged]).toEqual([200, [], [], 6])
    expect(await events()).toHaveLength(before.length + 7)
  })

  it('is refused for a digest of another document, and after a change of the workspace', async () => {
    const text = stringify({ version: 1, retention: { retention_days: 600 } })
    const { digest } = (await compare(text)).body
    const other = await apply(stringify({ version: 1, retention: { retention_days: 700 } }), digest)
    expect([other.status, other.body.code]).toEqual([412, 'PRECONDITION_FAILED'])
    await make('agents', 'between', 'q=a')
    const late = await apply(text, digest)
    expect([late.status, late.body.detail]).toEqual([412, expect.stringContaining('nothing was applied')])
    const { digest: current } = (await compare(text)).body
    expect((await apply(text, current)).status).toBe(200)
    expect((await apply(text, 'x')).body.errors?.map(({ path }) => path)).toEqual(['digest'])
  })

  it('makes no change at all where one of them is not possible', async () => {
    const before = await events()
    const many = Array.from({ length: 100 }, (_, index) => {
      const config = { url: 'https://a.example.org/' }
      return { name: `many ${index}`, kind: 'webhook', on: 'log.invalid', config }
    })
    const { status, body } = await apply(stringify({ version: 1, retention: { retention_days: 800 }, actions: many }))
    expect([status, body.errors?.[0]]).toMatchObject([
      422,
      { path: 'actions.95', message: expect.stringContaining('100') },
    ])
    expect(body.errors?.[0]?.line).toBeGreaterThan(95)
    expect(await events()).toEqual(before)
    const { actions = [] } = (await platform.call<{ actions: Action[] }>('GET', '/api/v1/actions?limit=200')).body
    expect(actions).toHaveLength(5)
  })

  it('fills the views of a list up to their maximum and no further', async () => {
    const views = Array.from({ length: 51 }, (_, index) => ({ list: 'events', name: `v${index}`, query: 'kind=log.' }))
    expect((await apply(stringify({ version: 1, views }))).body.errors).toMatchObject([
      { path: 'views.50', message: expect.stringContaining('50 views') },
    ])
    expect((await apply(stringify({ version: 1, views: views.slice(0, 50) }))).body.changes).toHaveLength(50)
  })
})
