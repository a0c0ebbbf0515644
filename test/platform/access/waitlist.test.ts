// Waitlisted accounts: their personal workspace is closed until they are released; they can join other workspaces.

import { readConfig } from '@svc/platform'
import type { MemberList, Offer, OfferList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { releaseAccount } from '../../../platform/access/commands/release-account.js'
import { openDatabase } from '../../../platform/db/db.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { browserOf, csrfIn, join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
let owner: SignedIn
let count = 0
const limits = { SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
/** A waitlisted account. */
const waitlisted = () => {
  now += 1000
  return signedIn(platform, mails, `late${count++}@example.org`)
}
const agents = async (person: SignedIn) => {
  const { status, body } = await person.call<Problem>('GET', '/api/v1/agents')
  return [status, body.detail ?? '']
}
const invite = async (email: string) =>
  (await owner.call<Offer>('POST', `/auth/workspaces/${owner.org_id}/offers`, { kind: 'invitation', email })).body

beforeAll(async () => {
  mails = await startMailServer()
  // The owner of the first workspace is the first account.
  const env = { ...limits, SVC_SMTP_URL: mails.url, SVC_REGISTRATION_CAP: '2' }
  platform = await startPlatform({ env, clock: () => now })
  owner = await signedIn(platform, mails, 'owner@example.org')
  await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('a waitlisted account', () => {
  it('has a closed personal workspace', async () => {
    const person = await waitlisted()
    const me = await person.me()
    expect(me).toMatchObject({ is_capped: true, is_suspended: false, current_workspace: person.org_id })
    expect(me.workspaces).toMatchObject([{ org_id: person.org_id, kind: 'personal', role: 'owner' }])
    expect(await agents(person)).toEqual([403, expect.stringContaining('waitlisted')])
    const path = `/auth/workspaces/${person.org_id}`
    for (const [at, body] of [
      [`${path}/promote`, { name: 'Mine' }],
      [`${path}/switch`, {}],
      [`${path}/offers`, { kind: 'invitation', email: 'a@example.org' }],
      ['/auth/api-keys', { name: 'x' }],
    ] as const)
      expect([at, (await person.call('POST', at, body)).status]).toEqual([at, 403])
  })

  it('accepts an invitation, works in that workspace, and signs in to it again', async () => {
    const person = await waitlisted()
    const { id } = await invite(person.email)
    expect((await person.call<OfferList>('GET', '/auth/offers')).body.offers).toMatchObject([{ id, state: 'pending' }])
    expect((await person.call('POST', `/auth/offers/${id}/accept`)).status).toBe(200)
    expect(await person.me()).toMatchObject({ is_capped: true, current_workspace: owner.org_id })
    expect(await agents(person)).toEqual([200, ''])
    const { members } = (await owner.call<MemberList>('GET', `/auth/workspaces/${owner.org_id}/members`)).body
    expect(members.map(({ email }) => email)).toContain(person.email)
    expect((await person.call('POST', `/auth/workspaces/${person.org_id}/switch`)).status).toBe(403)
    const again = await signedIn(platform, mails, person.email)
    expect([again.org_id, await agents(again)]).toEqual([owner.org_id, [200, '']])
  })

  it('can decline an invitation and approve a program', async () => {
    const person = await waitlisted()
    const { id } = await invite(person.email)
    expect((await person.call('POST', `/auth/offers/${id}/decline`)).status).toBe(200)
    const { body } = await platform.call<{ user_code: string }>('POST', '/auth/device/code', { as: null, body: {} })
    const decision = { user_code: body.user_code, decision: 'approve' }
    expect((await person.call('POST', '/auth/device/decision', decision)).status).toBe(204)
    expect(await agents(person)).toEqual([403, expect.stringContaining('waitlisted')])
  })

  it('keeps its personal workspace when it leaves another one', async () => {
    const person = await waitlisted()
    await join(owner, person, owner.org_id, 'member')
    expect((await person.call('POST', `/auth/workspaces/${owner.org_id}/leave`)).status).toBe(204)
    const again = await signedIn(platform, mails, person.email)
    expect([again.org_id, (await agents(again))[0]]).toEqual([person.org_id, 403])
  })

  it('sees the state of its workspaces on the account page', async () => {
    const person = await waitlisted()
    await invite(person.email)
    const cookie = await browserOf(platform, mails, person.email)
    const page = async () => (await fetch(`${platform.url}/account`, { headers: { cookie } })).text()
    const before = await page()
    expect(before).toContain('Acme</strong> invites you')
    expect(before).toContain('opens when the operator releases your account')
    const csrf = csrfIn(before)
    const press = (form: Record<string, string>) =>
      fetch(`${platform.url}/account`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams({ csrf, ...form }),
      })
    expect(await (await press({ act: 'use', id: person.org_id })).text()).toContain(
      'You cannot work in this workspace.',
    )
    const id = /name="id" value="(off_[^"]+)"/.exec(before)?.[1] ?? ''
    expect(await (await press({ act: 'accept', id })).text()).toMatch(/Acme<\/strong> member[\s\S]*current workspace/)
  })
})

describe('a released account', () => {
  it('finds its personal workspace open', async () => {
    const person = await waitlisted()
    await platform.close()
    const { value: config } = readConfig(platform.env)
    const db = await openDatabase(config)
    await releaseAccount(db, person.email.toUpperCase())
    await db.close()
    platform = await platform.restart({ SVC_REGISTRATION_CAP: '2' })
    const again = await signedIn(platform, mails, person.email)
    expect([again.org_id, (await again.me()).is_capped, await agents(again)]).toEqual([person.org_id, false, [200, '']])
  })
})
