// The settings of a workspace as pages: the workspace, its members and its API keys.
import type { ApiKeyList, MemberList, OfferList } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addressOf, hostile, injectedIn, type Role, startTeam, type Team } from '../../support/people/pages.js'
import { browserOf, csrfIn, join, type SignedIn, signedIn } from '../../support/people/people.js'

let team: Team
let owner: SignedIn
beforeAll(async () => {
  team = await startTeam()
  owner = await signedIn(team.platform, team.mails, addressOf('owner'))
})
afterAll(() => team.close())

const at = () => `/auth/workspaces/${team.org_id}`
const members = async () => (await owner.call<MemberList>('GET', `${at()}/members`)).body.members
const roleOf = async (id: string) => (await members()).find(({ person_id }) => person_id === id)?.role
const offers = async () => (await owner.call<OfferList>('GET', `${at()}/offers`)).body.offers
/** A new member of the workspace. */
async function guest(name: string, role: 'admin' | 'member' | 'auditor' = 'member'): Promise<SignedIn> {
  const person = await signedIn(team.platform, team.mails, `${name}@example.org`)
  await join(owner, person, team.org_id, role)
  return person
}
const tabsFor = async (as: Role) =>
  (await team.look('/settings', as)).text.match(/(?<=class="nav-link[^"]*" href=")[^"]+/g)

describe('the tab General', () => {
  it('shows the workspace, the role, and how a terminal and programs reach the platform', async () => {
    for (const role of ['owner', 'admin', 'member', 'auditor'] as const) {
      const { status, text } = await team.look('/settings', role)
      expect([role, status, text]).toEqual([role, 200, expect.stringContaining(`<strong>${role}</strong>`)])
      for (const shown of ['Acme', team.org_id, `svc login --url ${team.platform.url}`, '365 days', 'href="/docs"'])
        expect(text).toContain(shown)
      expect(text).not.toContain('value="promote"')
    }
  })

  it('has the tab of the keys for owners and admins only', async () => {
    const tabs = ['members', 'keys', 'log', 'retention', 'file'].map((tab) => `/settings/${tab}`)
    const all = ['/settings', ...tabs]
    const others = all.filter((path) => path !== '/settings/keys')
    expect(await tabsFor('owner')).toEqual(all)
    expect(await tabsFor('admin')).toEqual(all)
    expect(await tabsFor('member')).toEqual(others)
    expect(await tabsFor('auditor')).toEqual(others)
  })

  it('shares a personal workspace under a name, and rejects a name that misleads', async () => {
    await signedIn(team.platform, team.mails, 'founder@example.org')
    const cookie = await browserOf(team.platform, team.mails, 'founder@example.org')
    const read = async (path: string, body: URLSearchParams | null = null) => {
      const headers = { accept: 'text/html', cookie }
      const method = body === null ? 'GET' : 'POST'
      const answer = await fetch(team.platform.url + path, { method, headers, body, redirect: 'manual' })
      return { status: answer.status, text: await answer.text() }
    }
    const { text } = await read('/settings')
    expect(text).toContain('value="promote"')
    expect((await read('/settings/members')).text).toContain('share it under a name')
    const promote = (name: string) =>
      read('/settings', new URLSearchParams({ csrf: csrfIn(text), act: 'promote', name }))
    const wrong = await promote('a\u202eb')
    expect([wrong.status, wrong.text]).toEqual([422, expect.stringContaining('role="alert"')])
    expect((await promote(hostile)).status).toBe(303)
    const named = await read('/settings')
    expect([injectedIn(named.text), named.text]).toEqual([[], expect.stringContaining('&lt;script&gt;')])
  })

  it('asks before a member leaves, who then has no access', async () => {
    const person = await guest('leaver')
    const cookie = await browserOf(team.platform, team.mails, person.email)
    const headers = { accept: 'text/html', cookie }
    const asked = await (await fetch(`${team.platform.url}/settings?confirm=leave`, { headers })).text()
    expect(asked).toContain('Leave Acme?')
    const body = new URLSearchParams({ csrf: csrfIn(asked), act: 'leave' })
    const left = await fetch(`${team.platform.url}/settings`, { method: 'POST', headers, body, redirect: 'manual' })
    expect([left.status, left.headers.get('location'), await roleOf(person.id)]).toEqual([303, '/account', undefined])
  })

  it('keeps the owner who has no successor, with the reason', async () => {
    const { status, text } = await team.press('/settings', { act: 'leave' })
    expect([status, text]).toEqual([409, expect.stringContaining('Transfer the ownership first')])
  })
})

describe('the tab Log', () => {
  it('says when no checkpoint exists', async () => {
    const { status, text } = await team.look('/settings/log')
    expect([status, text]).toEqual([200, expect.stringContaining('No checkpoint is published yet.')])
  })
})

describe('the tab Members', () => {
  it('shows the members to everyone, and invitations and forms to owners and admins', async () => {
    for (const role of ['owner', 'admin', 'member', 'auditor'] as const) {
      const { text } = await team.look('/settings/members', role)
      for (const one of ['owner', 'admin', 'member', 'auditor'] as const) expect(text).toContain(addressOf(one))
      const mayInvite = role === 'owner' || role === 'admin'
      expect([role, text.includes('value="invite"'), text.includes('Invitations and offers')]).toEqual([
        role,
        mayInvite,
        mayInvite,
      ])
    }
    const invitation = { act: 'invite', email: 'x@example.org', role: 'member' }
    expect((await team.press('/settings/members', invitation, 'member')).status).toBe(403)
  })

  it('invites an address and revokes the invitation', async () => {
    const invitation = { act: 'invite', email: 'invited@example.org', role: 'auditor' }
    const { status, location } = await team.press('/settings/members', invitation, 'admin')
    expect([status, location]).toEqual([303, '/settings/members'])
    const { text } = await team.look('/settings/members')
    expect(text).toMatch(/invited@example\.org[\s\S]*invitation as auditor[\s\S]*pending/)
    const again = await team.press('/settings/members', invitation)
    expect([again.status, again.text]).toEqual([409, expect.stringContaining('already pending')])
    expect(again.text).toContain('value="invited@example.org"')
    const offer = (await offers()).find(({ email }) => email === 'invited@example.org')?.id ?? ''
    expect((await team.press('/settings/members', { act: 'revoke', offer }, 'member')).status).toBe(403)
    expect((await team.press('/settings/members', { act: 'revoke', offer })).status).toBe(303)
    expect((await offers()).find(({ id }) => id === offer)?.state).toBe('revoked')
  })

  it('keeps a hostile address in the field as text', async () => {
    const { status, text } = await team.press('/settings/members', { act: 'invite', email: hostile, role: 'member' })
    expect([status, injectedIn(text)]).toEqual([422, []])
  })
})

describe('the page of a member', () => {
  const page = (id: string) => `/settings/members/${id}`
  const actsFor = async (id: string, as: Role) =>
    [...(await team.look(page(id), as)).text.matchAll(/href="[^"]*\?confirm&#x3D;(\w+)"/g)].map(([, act]) => act)

  it('offers the acts that the caller may do on this member', async () => {
    const { ids } = team
    const common = ['admin', 'suspend', 'remove']
    expect(await actsFor(ids.member, 'owner')).toEqual(['admin', 'successor', 'transfer', 'suspend', 'remove'])
    expect(await actsFor(ids.member, 'admin')).toEqual(common)
    expect(await actsFor(ids.admin, 'owner')).toEqual(['successor', 'transfer', 'suspend', 'remove'])
    for (const [id, as] of [
      [ids.owner, 'admin'],
      [ids.admin, 'admin'],
      [ids.auditor, 'member'],
      [ids.member, 'auditor'],
    ] as const)
      expect(await actsFor(id, as)).toEqual([])
    expect((await team.look(page(ids.stranger))).status).toBe(404)
    expect((await team.look(page(ids.member), 'stranger')).status).toBe(404)
  })

  it('says what an act does before it is done', async () => {
    const { id, email } = await guest('asked')
    const { text } = await team.look(`${page(id)}?confirm=remove`)
    expect(text).toContain(`Remove ${email}?`)
    expect(text).toContain('loses access to this workspace at their next request')
    expect(await roleOf(id)).toBe('member')
    expect((await team.look(`${page(id)}?confirm=remove`, 'auditor')).text).not.toContain('value="remove"')
  })

  it('changes the role, suspends, ends the suspension and removes', async () => {
    const { id } = await guest('managed')
    const press = (act: string, more = {}) => team.press(`${page(id)}?confirm=${act}`, { act, ...more }, 'admin')
    expect((await press('role', { role: 'auditor' })).status).toBe(303)
    expect(await roleOf(id)).toBe('auditor')
    expect((await press('role', { role: 'owner' })).status).toBe(422)
    expect((await press('suspend')).location).toBe(page(id))
    expect((await team.look(page(id))).text).toContain('suspended')
    expect(await actsFor(id, 'admin')).toEqual(['unsuspend', 'remove'])
    expect((await press('unsuspend')).status).toBe(303)
    expect((await press('remove')).location).toBe('/settings/members')
    expect(await roleOf(id)).toBeUndefined()
    expect((await press('suspend')).status).toBe(404)
  })

  it.each(['member', 'auditor'] as const)('rejects the forms of a person with the role %s', async (as) => {
    const { ids } = team
    for (const act of ['suspend', 'remove', 'admin', 'transfer', 'role'])
      expect([act, (await team.press(page(ids.admin), { act, role: 'member' }, as)).status]).toEqual([act, 403])
    expect((await team.press(page(ids.member), { act: 'transfer' }, 'admin')).status).toBe(403)
  })

  it('makes role offers, successors and transfers, which the person must accept', async () => {
    const { id, email } = await guest('heir')
    for (const act of ['admin', 'successor', 'transfer'])
      expect((await team.press(`${page(id)}?confirm=${act}`, { act })).status).toBe(303)
    const made = (await offers()).filter((one) => one.email === email && one.state === 'pending')
    expect(made.map(({ kind }) => kind).sort()).toEqual(['admin', 'successor', 'transfer'])
    expect(await roleOf(id)).toBe('member')
    const seen = (await team.look('/settings/members', 'admin')).text
    const revocable = (kind: string) =>
      seen.includes(`name="offer" value="${made.find((one) => one.kind === kind)?.id}"`)
    expect([revocable('admin'), revocable('transfer')]).toEqual([true, false])
  })
})

describe('the tab API keys', () => {
  const keys = async () => (await owner.call<ApiKeyList>('GET', '/auth/api-keys')).body.api_keys
  const create = (name: string, more = {}, as: Role = 'owner') =>
    team.press('/settings/keys', { act: 'create', name, scopes: ['ingest', 'read'], ...more }, as)
  const secretIn = (text: string) => /SvcKey-[\w-]+/.exec(text)?.[0] ?? ''

  it('shows a new key once, with commands that work', async () => {
    const { status, headers, text } = await create('shown once')
    const key = secretIn(text)
    expect([status, headers.get('cache-control'), key]).toEqual([200, 'no-store', expect.stringMatching(/.{30}/)])
    expect(text).toContain(`export SVC_API_KEY&#x3D;${key}`)
    const body = { agent_key: 'my-agent', owner_id: 'me', purpose: 'a first try' }
    expect((await team.platform.call('POST', '/api/v1/agents', { as: key, body })).status).toBe(201)
    const list = (await team.look('/settings/keys')).text
    expect([list.includes(key), list.includes('shown once')]).toEqual([false, true])
  })

  it('keeps what was typed in a form that is rejected', async () => {
    const wrong = await create(hostile, { scopes: 'read', expires: '2020-01-01' })
    expect([wrong.status, injectedIn(wrong.text)]).toEqual([422, []])
    expect(wrong.text).toContain('must be in the future')
    expect(wrong.text).toContain('value="2020-01-01"')
    expect(wrong.text).toMatch(/value="read" checked/)
    expect(wrong.text).not.toMatch(/value="ingest" checked/)
    expect((await create('without scopes', { scopes: [] })).text).toContain('The key has no scope')
    expect((await create('')).status).toBe(422)
  })

  it('ends the validity at the end of the chosen day', async () => {
    await create('until', { expires: '2099-12-31' })
    expect((await keys()).find(({ name }) => name === 'until')?.expires_at).toBe('2099-12-31T23:59:59.000Z')
  })

  it('asks before a key is rolled or revoked', async () => {
    const first = secretIn((await create('rolled')).text)
    const id = (await keys()).find(({ name }) => name === 'rolled')?.id ?? ''
    const asked = await team.look(`/settings/keys?confirm=roll&id=${id}`, 'admin')
    expect(asked.text).toContain('Roll the key rolled?')
    const rolled = await team.press('/settings/keys', { act: 'roll', key_id: id }, 'admin')
    const second = secretIn(rolled.text)
    expect([rolled.status, second === first]).toEqual([200, false])
    const read = async (as: string) => (await team.platform.call('GET', '/api/v1/policies/effective', { as })).status
    expect([await read(first), (await read(second)) === 401]).toEqual([401, false])
    expect((await team.look(`/settings/keys?confirm=revoke&id=${id}`)).text).toContain(
      'cannot continue with another key',
    )
    expect((await team.press('/settings/keys', { act: 'revoke', key_id: id })).location).toBe('/settings/keys')
    expect(await read(second)).toBe(401)
    expect((await team.press('/settings/keys', { act: 'revoke', key_id: id })).status).toBe(409)
    expect((await team.press('/settings/keys', { act: 'roll', key_id: id }, 'stranger')).status).toBe(404)
  })

  it.each(['member', 'auditor'] as const)('is closed to the role %s', async (as) => {
    const { status, text } = await team.look('/settings/keys', as)
    expect([status, text]).toEqual([403, expect.stringContaining('No access')])
    expect((await create('no', {}, as)).status).toBe(403)
  })
})
