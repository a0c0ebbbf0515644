// The page of an incident: what it shows and to which person, its buttons, and the sign-in that returns to it.
import { readFileSync } from 'node:fs'
import type { Incident, MadeApiKey, Workspace } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { registerAgent, violate } from '../../support/http/actions.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { browserOf, cookieOf, csrfIn, join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

const addresses = parse(readFileSync(new URL('../../cases/return-addresses.yaml', import.meta.url), 'utf8')) as {
  readonly returned: readonly string[]
  readonly ignored: readonly string[]
}
const hour = 3_600_000
const owner_email = 'owner@example.org'

let mails: MailServer
let platform: TestPlatform
let now = Date.parse('2026-03-01T09:00:00Z')
let owner: SignedIn
let org_id: string
beforeAll(async () => {
  mails = await startMailServer()
  const env = { SVC_SMTP_URL: mails.url, SVC_CHECKPOINT_SECONDS: '0', SVC_OWNER_EMAIL: owner_email }
  platform = await startPlatform({ env, clock: () => now })
  await registerAgent(platform)
  owner = await signedIn(platform, mails, owner_email)
  org_id = owner.org_id
  await owner.call('POST', `/auth/workspaces/${org_id}/promote`, { name: 'Acme' })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

/** Signs a browser in, after the limits of earlier links. */
async function browser(email: string): Promise<string> {
  now += hour
  return browserOf(platform, mails, email)
}
async function look(path: string, cookie = '') {
  const response = await fetch(platform.url + path, { headers: { accept: 'text/html', cookie }, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
async function press(path: string, cookie: string, fields: Record<string, string>, more: Record<string, string> = {}) {
  const headers = { accept: 'text/html', cookie, ...more }
  const body = new URLSearchParams(fields)
  const response = await fetch(platform.url + path, { method: 'POST', headers, body, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const incident = async (id: string) => (await platform.call<Incident>('GET', `/api/v1/incidents/${id}`)).body
/** A person with this role in the workspace of the incidents. */
async function member(email: string, role: 'admin' | 'member' | 'auditor'): Promise<SignedIn> {
  now += hour
  const again = await signedIn(platform, mails, owner_email)
  const guest = await signedIn(platform, mails, email)
  await join(again, guest, org_id, role)
  return guest
}

describe('the page of an incident', () => {
  it('shows the incident to a member, and to a program with another credential the sign-in', async () => {
    const id = await violate(platform, 'shown')
    await platform.call('POST', `/api/v1/incidents/${id}/notes`, { body: { note: 'first line\nsecond line' } })
    const cookie = await browser(owner_email)
    const { status, headers, text } = await look(`/incidents/${id}`, cookie)
    expect([status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-store',
    ])
    expect(headers.get('content-security-policy')).toContain("script-src 'self'")
    const { policy_name, rule_type, agent_id, severity, violation_details } = await incident(id)
    const step = '<a href="/tasks/shown?around&#x3D;1">'
    expect(text).toContain(step)
    const shown = [policy_name, rule_type, agent_id, severity, 'open', '1 executed', owner_email]
    for (const one of [...shown, violation_details.reason, violation_details.remedy ?? ''])
      expect(text).toContain(escaped(one))
    expect(text).toContain('first line\nsecond line')
    expect(text).toMatch(/note.*by.*the operator[\s\S]*2026-03-01 \d\d:00:00 UTC/)
    for (const as of [platform.operator_token, platform.api_key]) {
      const headers = { authorization: `Bearer ${as}` }
      const answer = await fetch(`${platform.url}/incidents/${id}`, { headers, redirect: 'manual' })
      expect(answer.status).toBe(303)
    }
  })

  it('shows hostile texts of agents and people as texts', async () => {
    const attack = `</title></dl><script>alert(1)</script><img src=x onerror="alert(2)">{{7*7}}' "`
    const made_key = { name: 'hostile', scopes: ['ingest', 'read'] }
    const as = (await platform.call<MadeApiKey>('POST', '/auth/api-keys', { body: made_key })).body.key
    const agent = { agent_key: attack, name: `Desk ${attack}`, owner_id: 'o', purpose: 'p' }
    const registered = await platform.call<{ agent_id: string }>('POST', '/api/v1/agents', { as, body: agent })
    expect(registered.status).toBe(201)
    const { agent_id } = registered.body
    const rule = { rule_type: 'field_not_empty', scope: 'step_execution', params: { field: 'input.x' } }
    const policy = { name: attack, severity: 'low', agent_id, ...rule }
    const made = await platform.call<{ id: number }>('POST', '/api/v1/policies', { body: policy })
    expect([made.status, made.body]).toEqual([201, expect.anything()])
    const details = { code: attack, reason: attack, rule_type: attack, params: {}, evidence: [], remedy: attack }
    const report = { policy_id: made.body.id, agent_key: attack, task_id: attack, violation_details: details }
    const sent = await platform.call<{ incident_id: string }>('POST', '/api/v1/incidents', {
      as,
      body: { ...report, step: 1, reason: attack, evaluation_id: 'e' },
    })
    const id = sent.body.incident_id
    await platform.call('POST', `/api/v1/incidents/${id}/review`, { body: { note: attack } })
    const cookie = await browser(owner_email)
    const { status, text } = await look(`/incidents/${id}`, cookie)
    expect(status).toBe(200)
    // The title, the heading, the agent's key and name, the task, the reason, the remedy and the note.
    expect(text.split('&lt;script&gt;').length - 1).toBeGreaterThanOrEqual(8)
    const after = await press(`/incidents/${id}`, cookie, { csrf: csrfIn(text), act: attack, note: attack })
    expect(after.status).toBe(422)
    for (const page of [text, after.text]) {
      expect(page.match(/<(script(?! src="\/assets\/)|img)\b/gi)).toBeNull()
      expect(page).not.toContain('onerror="')
      expect(page).toContain('{{7*7}}')
    }
  })

  it('pages the occurrences', async () => {
    const id = await violate(platform, 'many')
    const steps = Array.from({ length: 54 }, (_, index) => index + 2)
    for (const step of steps) {
      const body = { task_id: 'many', step, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }
      await platform.call('POST', '/api/v1/logs', { as: 'key', body })
    }
    const cookie = await browser(owner_email)
    const rows = (text: string) => text.match(/<tr><td /g)?.length
    const first = await look(`/incidents/${id}`, cookie)
    expect([rows(first.text), first.text]).toEqual([50, expect.stringContaining('1 to 50 of 55')])
    const next = new RegExp(`/incidents/${id}\\?cursor&#x3D;([^"]+)`).exec(first.text)?.[1] ?? ''
    const later = await look(`/incidents/${id}?cursor=${next}`, cookie)
    expect([rows(later.text), later.text]).toEqual([5, expect.stringContaining('51 to 55 of 55')])
    for (const cursor of ['-1', 'x', '1e3', '9'.repeat(40)])
      expect((await look(`/incidents/${id}?cursor=${cursor}`, cookie)).status).toBe(422)
    const empty = await look(`/incidents/${id}?cursor=`, cookie)
    expect([empty.status, empty.headers.get('location')]).toEqual([303, `/incidents/${id}`])
  })

  it('is not found by a member of another workspace, like an incident that does not exist', async () => {
    const id = await violate(platform, 'foreign')
    const cookie = await browser('stranger@example.org')
    const foreign = await look(`/incidents/${id}`, cookie)
    const absent = await look('/incidents/inc_nothing', cookie)
    const same = (text: string) => text.replaceAll('inc_nothing', id)
    expect([foreign.status, absent.status, foreign.text]).toEqual([404, 404, same(absent.text)])
    expect(foreign.text).toContain('This incident does not exist.')
    const csrf = csrfIn((await look('/account', cookie)).text)
    const tried = await press(`/incidents/${id}`, cookie, { csrf, act: 'resolve' })
    expect([tried.status, (await incident(id)).state]).toEqual([404, 'open'])
  })

  it('is found again after the person switched to its workspace', async () => {
    const id = await violate(platform, 'switched')
    const guest = await member('guest@example.org', 'member')
    const personal = (await guest.me()).workspaces.find(({ kind }: Workspace) => kind === 'personal')
    const cookie = await browser('guest@example.org')
    const use = async (org: string) => {
      const csrf = csrfIn((await look('/account', cookie)).text)
      expect((await press('/account', cookie, { csrf, act: 'use', id: org })).status).toBe(303)
    }
    await use(personal?.org_id ?? '')
    const before = await look(`/incidents/${id}`, cookie)
    expect([before.status, before.text]).toEqual([404, expect.stringContaining('href="/account"')])
    await use(org_id)
    expect((await look(`/incidents/${id}`, cookie)).status).toBe(200)
  })

  it('is closed to a suspended member', async () => {
    const id = await violate(platform, 'suspended')
    const guest = await member('suspended@example.org', 'member')
    const cookie = await browser('suspended@example.org')
    now += hour
    const again = await signedIn(platform, mails, owner_email)
    await again.call('POST', `/auth/workspaces/${org_id}/members/${guest.id}/suspend`)
    const { status, text } = await look(`/incidents/${id}`, cookie)
    expect([status, text]).toEqual([403, expect.stringContaining('suspended in this workspace')])
    expect(text).not.toContain((await incident(id)).agent_id)
  })
})

describe('the buttons of the page', () => {
  it('move the incident with a note, and show what is possible next', async () => {
    const id = await violate(platform, 'moved')
    const cookie = await browser(owner_email)
    const acts = async () => (await look(`/incidents/${id}`, cookie)).text.match(/(?<=name="act" value=")\w+/g)
    const act = async (name: string, note = '') => {
      const csrf = csrfIn((await look(`/incidents/${id}`, cookie)).text)
      return press(`/incidents/${id}`, cookie, { csrf, act: name, note })
    }
    expect(await acts()).toEqual(['review', 'resolve', 'ignore', 'note'])
    const reviewed = await act('review')
    expect([reviewed.status, reviewed.headers.get('location')]).toEqual([303, `/incidents/${id}#history`])
    expect(await acts()).toEqual(['resolve', 'ignore', 'note'])
    const again = await act('review')
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('Cannot review an incident')])
    const blank = await act('ignore', ' ')
    expect([blank.status, blank.text]).toEqual([422, expect.stringContaining('The note is missing')])
    const hidden = await act('resolve', 'a\u202eb')
    expect([hidden.status, (await incident(id)).state]).toEqual([422, 'active'])
    expect((await act('ignore', 'a test')).status).toBe(303)
    expect(await incident(id)).toMatchObject({ state: 'ignored', note: 'a test', reviewed_by: `person:${owner.id}` })
    expect((await look(`/incidents/${id}`, cookie)).text).toMatch(
      new RegExp(
        `in review → ignored.*by.*${owner_email.replace('@', '@<wbr>')}[\\s\\S]*<p [^>]*><bdi>a test</bdi></p>`,
      ),
    )
    expect(await acts()).toEqual(['reactivate', 'note'])
  })

  it('are absent for an auditor, whose form is rejected', async () => {
    const id = await violate(platform, 'audited')
    await member('auditor@example.org', 'auditor')
    const cookie = await browser('auditor@example.org')
    const { status, text } = await look(`/incidents/${id}`, cookie)
    expect([status, text.includes('name="act"')]).toEqual([200, false])
    const csrf = csrfIn((await look('/account', cookie)).text)
    const tried = await press(`/incidents/${id}`, cookie, { csrf, act: 'resolve' })
    expect([tried.status, (await incident(id)).state]).toEqual([403, 'open'])
  })

  it.each([
    ['no CSRF token', {}, {}, 403],
    ['a wrong CSRF token', { csrf: 'x'.repeat(43) }, {}, 403],
    ['the page of another origin', null, { origin: 'https://evil.example' }, 403],
  ])('change nothing with %s', async (name, fields, headers, status) => {
    const id = await violate(platform, `forged ${name}`)
    const cookie = await browser(owner_email)
    const csrf = csrfIn((await look(`/incidents/${id}`, cookie)).text)
    const tried = await press(`/incidents/${id}`, cookie, { act: 'resolve', ...(fields ?? { csrf }) }, headers)
    expect([tried.status, (await incident(id)).state]).toEqual([status, 'open'])
  })

  it('change nothing after the session has expired, and lead to the page again', async () => {
    const id = await violate(platform, 'expired')
    const cookie = await browser(owner_email)
    const csrf = csrfIn((await look(`/incidents/${id}`, cookie)).text)
    now += 13 * hour
    const tried = await press(`/incidents/${id}`, cookie, { csrf, act: 'resolve' })
    expect([tried.status, tried.text, (await incident(id)).state]).toEqual([
      403,
      expect.stringContaining(`<a href="/incidents/${id}">`),
      'open',
    ])
    const opened = await look(`/incidents/${id}`, cookie)
    expect([opened.status, opened.headers.get('location')]).toEqual([303, `/sign-in?return_to=%2Fincidents%2F${id}`])
  })
})

describe('the sign-in of a visitor', () => {
  /** The link in the newest mail to the address. */
  const linkIn = async (email: string) => {
    const token = await mails.tokenFor(email)
    const text = mails.mailsTo(email).at(-1) ?? ''
    const plain = text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=')
    return /\/auth\/magic-link\S*/.exec(plain.slice(plain.indexOf(token) - 40))?.[0] ?? ''
  }
  const fieldIn = (page: string, name: string) =>
    (new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? '')
      .replaceAll('&#x3D;', '=')
      .replaceAll('&amp;', '&')

  it('returns to the incident by the link of the mail, also in another browser', async () => {
    const id = await violate(platform, 'returned')
    now += hour
    const sent = await look(`/incidents/${id}`)
    expect(sent.status).toBe(303)
    const form = await look(sent.headers.get('location') ?? '')
    const return_to = fieldIn(form.text, 'return_to')
    expect([form.status, return_to]).toEqual([200, `/incidents/${id}`])
    const wrong = await press('/sign-in', '', { email: 'not an address', return_to })
    expect(wrong.text).toContain(`href="/sign-in?return_to&#x3D;%2Fincidents%2F${id}"`)
    expect((await press('/sign-in', '', { email: owner_email, return_to })).status).toBe(200)
    const link = await linkIn(owner_email)
    const page = await look(link)
    const fields = { token: fieldIn(page.text, 'token'), return_to: fieldIn(page.text, 'return_to') }
    const body = new URLSearchParams(fields)
    const at = `${platform.url}/auth/magic-link`
    const signed = await fetch(at, { method: 'POST', body, redirect: 'manual' })
    expect([signed.status, signed.headers.get('location')]).toEqual([303, `/incidents/${id}`])
    expect((await look(signed.headers.get('location') ?? '', cookieOf(signed))).status).toBe(200)
    const used = await look(link)
    expect([used.status, used.text]).toEqual([401, expect.stringContaining(`%2Fincidents%2F${id}"`)])
  })

  const { returned, ignored } = addresses
  it.each([...returned, ...ignored].map((row) => ({ row, isReturned: returned.includes(row) })))(
    'to $row: returns $isReturned; the other addresses lead to the overview',
    async ({ row, isReturned }) => {
      const return_to = row.replaceAll('{id}', 'inc_019b76e0-5a3c-7c51-a111-6f1b1c2d3e4f')
      const expected = isReturned ? return_to : ''
      now += hour
      const form = await look(`/sign-in?${new URLSearchParams({ return_to })}`)
      expect(fieldIn(form.text, 'return_to')).toBe(expected)
      await press('/sign-in', '', { email: owner_email, return_to })
      const link = await linkIn(owner_email)
      expect(new URL(link, platform.url).searchParams.get('return_to') ?? '').toBe(expected)
      const token = new URL(link, platform.url).searchParams.get('token') ?? ''
      const page = await look(`/auth/magic-link?${new URLSearchParams({ token, return_to })}`)
      expect([fieldIn(page.text, 'return_to'), page.text.includes('<script>')]).toEqual([expected, false])
      const signed = await press('/auth/magic-link', '', { token, return_to })
      expect([signed.status, signed.headers.get('location')]).toEqual([303, isReturned ? expected : '/'])
    },
  )
})

/** As the templates escape a text. */
function escaped(text: string): string {
  const codes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }
  const all = { ...codes, '`': '&#x60;', '=': '&#x3D;' }
  return text.replaceAll(/[&<>"'`=]/g, (one) => all[one as keyof typeof all] ?? one)
}
