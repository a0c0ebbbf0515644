// The pages of actions: the list, the forms of each kind, one action with its deliveries, and its secret, shown once.
import type { Action, ActionList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { inStates, makeAction, registerAgent, violate } from '../../support/http/actions.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { actsIn, type PageReader, pageReader, readable } from '../../support/people/page-reader.js'
import { browserOf, join, type SignedIn, signedIn } from '../../support/people/people.js'
import { type Receiver, startReceiver } from '../../support/people/receiver.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const hour = 3_600_000
const owner_email = 'owner@example.org'
const attack = `</title><script>alert(1)</script><img src=x onerror="alert(2)">{{7*7}}`

let mails: MailServer
let receiver: Receiver
let platform: TestPlatform
let now = Date.parse('2026-03-01T09:00:00Z')
let owner: SignedIn
let page: PageReader
beforeAll(async () => {
  ;[mails, receiver] = await Promise.all([startMailServer(), startReceiver()])
  const env = { SVC_SMTP_URL: mails.url, SVC_CHECKPOINT_SECONDS: '0', SVC_OWNER_EMAIL: owner_email }
  platform = await startPlatform({ env: { ...env, SVC_ALLOW_PRIVATE_TARGETS: '1' }, clock: () => now })
  await registerAgent(platform)
  owner = await signedIn(platform, mails, owner_email)
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
  page = await reader(owner_email)
})
afterAll(async () => {
  await discard(platform)
  await Promise.all([mails.close(), receiver.stop()])
})

async function reader(email: string): Promise<PageReader> {
  now += hour
  return pageReader(platform.url, await browserOf(platform, mails, email))
}
const action = async (id: string) => (await platform.call<Action>('GET', `/api/v1/actions/${id}`)).body
const named = async (name: string) =>
  (await platform.call<ActionList>('GET', '/api/v1/actions?limit=200')).body.actions.find((one) => one.name === name)
const hook = (path = '/hook') => ({ config: { url: `${receiver.url}${path}` } })

describe('the list of actions', () => {
  it('has a name that is not read as the acts of agents', async () => {
    const { text } = await page.look('/actions')
    expect(text).toContain('<a href="/actions" aria-current="page">Alerts and webhooks</a>')
    expect(text).toContain('Messages that the platform sends when something happens in the workspace')
  })

  it('says what to do next while it is empty, then names receivers and triggers', async () => {
    expect(readable((await page.look('/actions')).text)).toContain('create the first one with the button above')
    const { action: made } = await makeAction(platform, { name: 'Listed', min_severity: 'critical', ...hook() })
    const { status, text } = await page.look('/actions?kind=webhook&enabled=true')
    expect([status, text]).toEqual([200, expect.stringContaining(`href="/actions/${made.id}"`)])
    expect(readable(text)).toMatch(/Listed .*Webhook .*an incident was opened .*critical .*only .*enabled/)
    const json = await page.look('/actions.json')
    expect(JSON.parse(json.text)).toMatchObject([{ name: 'Listed' }])
  })
})

describe('the form of an action', () => {
  it('creates a webhook, and shows its secret once', async () => {
    expect(readable((await page.look('/actions/new')).text)).toMatch(/Webhook .*Mail .*Slack/)
    const fields = {
      name: 'Hook',
      on: ['incident.created', 'log.invalid'],
      'config.url': `${receiver.url}/a`,
      policy_ids: '',
    }
    const { status, text } = await page.press('/actions/new?kind=webhook', 'save', fields)
    const secret = /whsec_[\w+/=-]+/.exec(readable(text))?.[0] ?? ''
    expect([status, secret.length > 20, text.includes('It is shown only now.')]).toEqual([200, true, true])
    const made = (await named('Hook')) as Action
    expect(made).toMatchObject({ on: fields.on, min_severity: null, agent_ids: null, policy_ids: null })
    const shown = await page.look(`/actions/${made.id}`)
    expect([shown.status, shown.text.includes(secret)]).toEqual([200, false])
  })

  it.each([
    ['email', { 'config.to': 'mia@example.org\r\nkim@example.org' }, { to: ['mia@example.org', 'kim@example.org'] }],
    ['slack', { 'config.url': 'x' }, {}],
  ] as const)('creates an action of the kind %s without a secret', async (kind, given, config) => {
    const url = kind === 'slack' ? { 'config.url': `${receiver.url}/services/T/B/X` } : {}
    const fields = { name: kind, on: 'incident.created', min_severity: 'high', ...given, ...url }
    const { status, headers } = await page.press(`/actions/new?kind=${kind}`, 'save', fields)
    const made = (await named(kind)) as Action
    expect([status, headers.get('location')]).toEqual([303, `/actions/${made.id}`])
    expect(made).toMatchObject({ kind, min_severity: 'high', config })
    expect((await page.look(`/actions/${made.id}`)).text).not.toContain('value="rotate"')
  })

  it('edits an action, whose secret address stays', async () => {
    const { action: made } = await makeAction(platform, { name: 'Edited', ...hook('/secret-path-of-the-receiver') })
    const at = `/actions/${made.id}`
    const form = await page.look(`${at}/edit`)
    expect(form.text).toContain('value="Edited"')
    const fields = {
      name: 'Changed',
      on: 'incident.changed',
      'config.url': made.config.url ?? '',
      min_severity: 'medium',
    }
    expect((await page.press(`${at}/edit`, 'save', fields)).headers.get('location')).toBe(at)
    expect(await action(made.id)).toMatchObject({ name: 'Changed', on: ['incident.changed'], min_severity: 'medium' })
    const test = await page.press(at, 'test')
    expect([test.status, receiver.received.length > 0]).toEqual([200, true])
  })

  it.each([
    [{ name: '' }, 'name'],
    [{ on: [] }, 'on'],
    [{ 'config.url': 'ftp://x' }, 'config.url'],
    [{ policy_ids: '999999' }, 'policy_ids'],
    [{ policy_ids: 'x' }, 'policy_ids'],
  ])('keeps what was typed, with the error at its field: %j', async (wrong, name) => {
    const fields = { name: 'Typed', on: ['incident.created'], 'config.url': `${receiver.url}/typed`, ...wrong }
    const { status, text } = await page.press('/actions/new?kind=webhook', 'save', fields)
    expect([status, text]).toEqual([422, expect.stringContaining(`id="field-${name.replace('.', '-')}-error"`)])
    expect(text).toContain(name === 'config.url' ? 'value="Typed"' : `/typed"`)
    expect(await named('Typed')).toBeUndefined()
  })

  it('has no form for another kind', async () => {
    expect((await page.look('/actions/new?kind=fax')).status).toBe(404)
    expect((await page.press('/actions/new', 'save', { name: 'x' })).status).toBe(422)
  })
})

describe('the page of an action', () => {
  it('shows what the receiver answers to a test', async () => {
    const { action: made } = await makeAction(platform, { name: 'Tested', ...hook() })
    const good = await page.press(`/actions/${made.id}`, 'test')
    expect([good.status, readable(good.text)]).toEqual([
      200,
      expect.stringMatching(/was delivered .*status 200 .*thank you/),
    ])
    receiver.answer((_, response) => void response.writeHead(500).end(attack))
    const bad = await page.press(`/actions/${made.id}`, 'test')
    receiver.answer(200)
    expect([bad.status, readable(bad.text)]).toEqual([200, expect.stringMatching(/was not delivered .*status 500/)])
    expect(bad.text.match(/<(script(?! src="\/assets\/)|img)\b/gi)).toBeNull()
  })

  it('switches the action, makes a secret, and deletes it after a question', async () => {
    const { action: made, secret } = await makeAction(platform, { name: 'Switched', ...hook() })
    const at = `/actions/${made.id}`
    for (const [act, enabled] of [
      ['disable', false],
      ['enable', true],
    ] as const) {
      expect((await page.press(at, act)).status).toBe(303)
      expect((await action(made.id)).enabled).toBe(enabled)
    }
    const rotated = await page.press(at, 'rotate')
    expect(readable(rotated.text)).toMatch(/whsec_.*signed with the previous secret too/)
    expect(rotated.text).not.toContain(secret)
    expect(readable((await page.look(at)).text)).toContain('Previous secret')
    expect(actsIn((await page.look(`${at}/delete`)).text)).toEqual(['delete'])
    expect((await page.press(`${at}/delete`, 'delete')).headers.get('location')).toBe('/actions')
    expect((await page.look(at)).status).toBe(404)
  })

  it('lists deliveries by their state, and delivers one again', async () => {
    receiver.answer(410)
    const { action: made } = await makeAction(platform, { name: 'Delivering', ...hook() })
    const at = `/actions/${made.id}`
    const incident = await violate(platform, 'delivered')
    const [delivery] = await inStates(platform, made.id, ['dead'])
    const { text } = await page.look(`${at}?state=dead`)
    expect(text).toContain(`href="${at}/deliveries/${delivery?.id}"`)
    expect(text).toContain(`href="/incidents/${incident}"`)
    expect(readable(text)).toMatch(/given up .*410/)
    expect(readable((await page.look(`${at}?state=delivered`)).text)).toContain('Nothing matches this filter.')
    expect((await page.look(`${at}?state=x`)).status).toBe(422)
    const csv = await page.look(`${at}.csv?state=dead`)
    expect(csv.text).toContain(`${delivery?.id}`)
    const one = `${at}/deliveries/${delivery?.id}`
    receiver.answer(200)
    await page.press(at, 'disable')
    expect(readable((await page.look(one)).text)).toContain('enable the action first')
    await page.press(at, 'enable')
    expect(actsIn((await page.look(one)).text)).toEqual(['redeliver'])
    expect((await page.press(one, 'redeliver')).headers.get('location')).toBe(one)
    await inStates(platform, made.id, ['delivered'])
    expect(readable((await page.look(one)).text)).toMatch(/delivered .*incident\.created/)
  })
})

describe('other roles and workspaces', () => {
  it('a member reads, and cannot change', async () => {
    const { action: made } = await makeAction(platform, { name: 'Kept', ...hook() })
    now += hour
    const again = await signedIn(platform, mails, owner_email)
    await join(again, await signedIn(platform, mails, 'member@example.org'), owner.org_id, 'member')
    const member = await reader('member@example.org')
    const at = `/actions/${made.id}`
    const shown = await member.look(at)
    expect([shown.status, actsIn(shown.text)]).toEqual([200, []])
    expect((await member.look('/actions')).text).not.toContain('href="/actions/new"')
    expect(actsIn((await member.look('/actions/new?kind=webhook')).text)).toEqual([])
    for (const act of ['test', 'disable', 'rotate']) expect((await member.press(at, act)).status).toBe(403)
    expect((await member.press(`${at}/delete`, 'delete')).status).toBe(403)
    expect((await member.press(`${at}/edit`, 'save', { name: 'x', on: 'incident.created' })).status).toBe(403)
    expect(await action(made.id)).toMatchObject({ name: 'Kept', enabled: true })
  })

  it('a stranger finds no action', async () => {
    const { action: made } = await makeAction(platform, { name: 'Foreign', ...hook() })
    const stranger = await reader('stranger@example.org')
    for (const path of ['', '/edit', '/delete', '/deliveries/dlv_x', '.csv'])
      expect((await stranger.look(`/actions/${made.id}${path}`)).status).toBe(404)
    expect((await stranger.press(`/actions/${made.id}`, 'disable')).status).toBe(404)
    expect((await stranger.look('/actions')).text).not.toContain('Foreign')
  })

  it('hostile texts are texts', async () => {
    const { action: made } = await makeAction(platform, { name: attack, ...hook() })
    for (const path of ['', '/edit', '/delete']) {
      const { status, text } = await page.look(`/actions/${made.id}${path}`)
      expect([status, text.match(/<(script(?! src="\/assets\/)|img)\b/gi)]).toEqual([200, null])
      expect(text).toContain('{{7*7}}')
    }
    const typed = await page.press('/actions/new?kind=slack', 'save', {
      name: 'a\u202eb',
      on: attack,
      'config.url': 'javascript:1',
    })
    expect([typed.status, typed.text.match(/<(script(?! src="\/assets\/)|img)\b/gi)]).toEqual([422, null])
  })
})
