// The settings of a workspace as a file: downloaded, compared, and applied as they were shown.
import type { EventList, SettingsDocument } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { buttonsOf, textOf } from '../../support/dashboard/html.js'
import { makeAction } from '../../support/http/actions.js'
import { addressOf, hostile, injectedIn, type Role, startTeam, type Team } from '../../support/people/pages.js'
import { type SignedIn, signedIn } from '../../support/people/people.js'

let team: Team
let owner: SignedIn
beforeAll(async () => {
  team = await startTeam()
  owner = await signedIn(team.platform, team.mails, addressOf('owner'))
  await makeAction(team.platform, {
    name: 'desk',
    config: { url: 'https://desk.example.org/hooks/abcdefghijklmnopqrst' },
  })
  await owner.call('POST', '/api/v1/views', { list: 'incident_groups', name: 'severe', query: 'min_severity=high' })
})
afterAll(() => team.close())

const path = '/settings/file'
const compare = (text: string, as?: Role) => team.press(path, { act: 'compare', text }, as)
/** The fields of the button that applies what the page shows. */
const shownIn = (page: string) => {
  const { fields = [] } = buttonsOf(page).find(({ act }) => act === 'apply') ?? {}
  return Object.fromEntries(fields.filter(([name]) => name !== 'csrf'))
}
const settings = async () => (await owner.call<SettingsDocument>('GET', '/api/v1/settings')).body
const total = async () => (await owner.call<EventList>('GET', '/api/v1/events?limit=1')).body.total

describe('the settings file', () => {
  it('is downloaded by a link, which the browser of every member may follow', async () => {
    for (const role of ['owner', 'admin', 'member', 'auditor'] as const) {
      const { status, text } = await team.look(path, role)
      expect([role, status]).toEqual([role, 200])
      const link = /href="(\/api\/v1\/settings[^"]*)" download/.exec(text)?.[1]?.replaceAll('&#x3D;', '=') ?? ''
      const file = await team.look(link, role)
      expect([file.status, parse(file.text)]).toEqual([200, await settings()])
      expect(text).toContain('Policies are not settings')
    }
  })

  it('of another workspace has nothing of this one', async () => {
    const file = await team.look('/api/v1/settings?format=yaml', 'stranger')
    expect([file.status, file.text.includes('desk')]).toEqual([200, false])
    const text = stringify({ version: 1, actions: (await settings()).actions })
    const page = await compare(text, 'stranger')
    expect([page.status, page.text]).toEqual([422, expect.stringContaining('write the whole address')])
  })

  it('as it was downloaded has nothing to apply', async () => {
    const { text: file } = await team.look('/api/v1/settings?format=yaml')
    const { status, text } = await compare(file)
    expect([status, shownIn(text)]).toEqual([200, {}])
    expect(textOf(text)).toContain('the workspace has these settings already')
  })

  it('is compared in words, and applied exactly as it was shown', async () => {
    const file = stringify({
      version: 1,
      workspace: { name: 'Staging' },
      retention: { retention_days: 200 },
      actions: [
        { name: 'desk', kind: 'webhook', on: 'log.invalid', config: { url: 'https://desk.example.org/hooks/…qrst' } },
        { name: 'new', kind: 'webhook', on: 'trace.gap', config: { url: 'https://new.example.org/x' } },
      ],
    })
    const { status, text } = await compare(file.replaceAll('\n', '\r\n'))
    const shown = textOf(text)
    expect(status).toBe(200)
    for (const said of [
      'The document is from the workspace Staging; the name of this workspace, Acme, stays.',
      'kept for 200 days instead of 365: older ones are archived as a bundle and then deleted',
      'When: incident.created → log.invalid',
      'Receiver: https://new.example.org/x',
      'View of incident groups severe',
      'Apply 3 changes',
    ])
      expect(shown).toContain(said)
    const before = await total()
    const applied = await team.press(path, shownIn(text))
    expect([applied.status, textOf(applied.text)]).toEqual([200, expect.stringMatching(/shown only now[\s\S]*whsec_/)])
    expect(await total()).toBe(before + 3)
    const now = await settings()
    expect([now.retention?.retention_days, now.actions?.map(({ name, on }) => [name, on])]).toEqual([
      200,
      [
        ['desk', ['log.invalid']],
        ['new', ['trace.gap']],
      ],
    ])
    expect((await team.look(path)).text).not.toContain('whsec_')
    const again = await team.press(path, shownIn(text))
    expect([again.status, again.text]).toEqual([412, expect.stringContaining('nothing was applied')])
  })

  it('is not applied when the workspace changed after it was shown, and stays in the form', async () => {
    const view = '{list: incident_groups, name: severe, query: min_severity=high}'
    const { text } = await compare(`version: 1\nretention: {retention_days: 300}\nviews: [${view}]\n`)
    expect(textOf(text)).toContain('1 setting of the file is like this already.')
    await owner.call('POST', '/api/v1/views', { list: 'tasks', name: 'between', query: 'status=error' })
    const late = await team.press(path, shownIn(text), 'admin')
    expect([late.status, late.text]).toEqual([412, expect.stringContaining('compare them again')])
    expect(textOf(late.text)).toContain('retention_days: 300')
    expect((await settings()).retention?.retention_days).toBe(200)
    const { text: next } = await compare(shownIn(text).text ?? '', 'admin')
    expect((await team.press(path, shownIn(next), 'admin')).status).toBe(200)
  })

  it('is compared by every member, and applied by owners and admins only', async () => {
    const file = 'version: 1\nretention: {retention_days: 900}\n'
    for (const role of ['member', 'auditor'] as const) {
      const { status, text } = await compare(file, role)
      expect([role, status, shownIn(text)]).toEqual([role, 200, {}])
      expect(textOf(text)).toContain('Only owners and admins apply settings')
      const { text: own } = await compare(file)
      expect((await team.press(path, shownIn(own), role)).status).toBe(403)
    }
  })

  it('that is wrong shows each error at its line, below the text', async () => {
    const { status, text } = await compare('version: 1\nretention:\n  retention_days: 30\nview: []\n')
    expect(status).toBe(422)
    const errors = /id="field-text-error">([\s\S]*?)<\/div><\/div>/.exec(text)?.[1] ?? ''
    expect(textOf(errors)).toContain('Line 3, `retention.retention_days`: must be at least 184')
    expect(textOf(errors)).toContain('Line 4, `view`: unknown key `view`')
    expect(textOf(text)).toContain('retention_days: 30')
  })

  it('shows hostile names as text', async () => {
    const action = { kind: 'webhook', on: 'log.invalid', config: { url: 'https://a.example.org/' } }
    const file = stringify({
      version: 1,
      workspace: { name: hostile },
      actions: [{ name: hostile, ...action }],
      views: [{ list: 'agents', name: hostile, query: `q=${encodeURIComponent(hostile)}` }],
    })
    const { status, text } = await compare(file)
    expect([status, injectedIn(text)]).toEqual([200, []])
    expect(textOf(text)).toContain(hostile)
    const applied = await team.press(path, shownIn(text))
    expect([applied.status, injectedIn(applied.text)]).toEqual([200, []])
    const wrong = await compare(hostile)
    expect([wrong.status, injectedIn(wrong.text)]).toEqual([422, []])
  })
})
