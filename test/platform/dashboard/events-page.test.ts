// The audit trail as a page, and the page of people on the waiting list.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerAgent, violate } from '../../support/http/actions.js'
import { readable } from '../../support/people/page-reader.js'
import { addressOf, hostile, injectedIn, startTeam, type Team } from '../../support/people/pages.js'
import { browserOf, csrfIn } from '../../support/people/people.js'

let team: Team
beforeAll(async () => {
  team = await startTeam({ SVC_REGISTRATION_CAP: '5' })
  await registerAgent(team.platform)
})
afterAll(() => team.close())

describe('the audit trail', () => {
  it('names the actors, links the subjects, and unfolds the data of an event', async () => {
    const id = await violate(team.platform, 'a task')
    await team.press(`/incidents/${id}`, { act: 'review', note: 'I look at it' })
    const { status, text } = await team.look('/events', 'member')
    expect(status).toBe(200)
    for (const shown of [`href="/incidents/${id}"`, 'incident.active', '&quot;I look at it&quot;'])
      expect(text).toContain(shown)
    expect(readable(text)).toContain(addressOf('owner'))
    expect(text).toMatch(/person<\/span> <a href="\/settings\/members\/usr_\w+/)
    expect(text).toMatch(/<details><summary>Details/)
  })

  it('is filtered by kind, actor, subject and period, and downloaded with the filter', async () => {
    const id = await violate(team.platform, 'filtered')
    const kinds = async (query: string) => {
      const { text } = await team.look(`/events.json?${query}`)
      return [...new Set((JSON.parse(text) as { kind: string }[]).map(({ kind }) => kind))]
    }
    expect(await kinds(`subject=${id}`)).toEqual(['incident.opened'])
    expect(await kinds('kind=offer.')).toEqual(['offer.accepted', 'offer.made'])
    expect(await kinds(`actor=${team.ids.admin}&kind=member.`)).toEqual(['member.became'])
    expect(await kinds('from=2020-01-01&to=2020-12-31')).toEqual([])
    const none = await team.look('/events?kind=nothing.')
    expect([none.status, none.text]).toEqual([200, expect.stringContaining('Nothing matches this filter.')])
    expect((await team.look('/events?from=yesterday')).status).toBe(422)
    const csv = (await team.look(`/events.csv?subject=${id}`)).text.split('\r\n')
    expect(csv[0]).toBe('id,log_index,at,kind,actor_kind,actor_id,subject_kind,subject_id,data')
    expect(csv).toHaveLength(3)
  })

  it('shows nothing of another workspace', async () => {
    const id = await violate(team.platform, 'foreign')
    const { status, text } = await team.look(`/events?subject=${id}`, 'stranger')
    expect([status, text]).toEqual([200, expect.stringContaining('Nothing matches this filter.')])
    expect((await team.look('/events', 'stranger')).text).not.toContain(addressOf('owner'))
  })

  it('shows hostile texts as texts', async () => {
    const body = { name: `${hostile}\u202e`, scope: 'step_execution', severity: 'low', agent_id: null }
    const rule = { rule_type: 'field_not_empty', params: { field: 'input.x' } }
    await team.platform.call('POST', '/api/v1/policies', { body: { ...body, ...rule, name: hostile } })
    const hold = { task_id: 'javascript:alert(1)', reason: hostile }
    expect((await team.platform.call('POST', '/api/v1/holds', { body: hold })).status).toBe(201)
    for (const path of ['/events', `/events?${new URLSearchParams({ subject: hostile, kind: hostile })}`]) {
      const { text } = await team.look(path)
      expect([path, injectedIn(text)]).toEqual([path, []])
    }
    expect((await team.look('/events')).text).toContain('&lt;script&gt;')
  })
})

describe('a person on the waiting list', () => {
  it('reads what happens next on every page, and the invitations on the page of the account', async () => {
    const cookie = await browserOf(team.platform, team.mails, 'late@example.org')
    const read = async (path: string) => {
      const answer = await fetch(team.platform.url + path, { headers: { accept: 'text/html', cookie } })
      return [answer.status, await answer.text()] as const
    }
    for (const path of ['/settings', '/tasks', '/reports'])
      expect(await read(path)).toEqual([403, expect.stringContaining('You are on the waiting list')])
    const [status, account] = await read('/account')
    expect([status, account]).toEqual([200, expect.stringContaining('You are on the waiting list')])
    expect(account).not.toContain('Open the dashboard')
    await team.press('/settings/members', { act: 'invite', email: 'late@example.org', role: 'member' })
    const [, invited] = await read('/account')
    expect(invited).toContain('invites you to join as member')
    const offer = /name="id" value="(off_[^"]+)"/.exec(invited)?.[1] ?? ''
    const body = (fields: object) => new URLSearchParams({ csrf: csrfIn(invited), ...fields })
    for (const fields of [
      { act: 'accept', id: offer },
      { act: 'use', id: team.org_id },
    ])
      await fetch(`${team.platform.url}/account`, { method: 'POST', headers: { cookie }, body: body(fields) })
    expect(await read('/settings')).toEqual([200, expect.stringContaining('Acme')])
  })
})
