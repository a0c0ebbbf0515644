// The end of an account: its effects, and the conditions for it.
import { readConfig } from '@svc/platform'
import type { EventList, MadeApiKey, Offer, OfferList, Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, withUnscopedTransaction } from '../../../platform/db/db.js'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { browserOf, join, rolesIn, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
let count = 0
const newPerson = (): Promise<SignedIn> => signedIn(platform, mails, `person${count++}@example.org`)
async function shared(name = 'Acme') {
  const owner = await newPerson()
  const path = `/auth/workspaces/${owner.org_id}`
  await owner.call('POST', `${path}/promote`, { name })
  return { owner, path, org_id: owner.org_id }
}
const end = (person: SignedIn, email = person.email) => person.call<Problem>('DELETE', '/auth/me', { email })
const keyOf = async (person: SignedIn) =>
  (await person.call<MadeApiKey>('POST', '/auth/api-keys', { name: 'agents' })).body.key
const register = async (key: string) =>
  (await platform.call('POST', '/api/v1/agents', { as: key, body: { agent_key: 'a' } })).status

beforeAll(async () => {
  mails = await startMailServer()
  const limits = { SVC_RATE_LIMIT_ADDRESS: '0', SVC_RATE_LIMIT_MAILBOX: '0' }
  platform = await startPlatform({ env: { ...limits, SVC_SMTP_URL: mails.url }, clock: () => now++ })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('an account', () => {
  it('ends with its sessions and API keys, and its address can create a new account', async () => {
    const person = await newPerson()
    const other = await signedIn(platform, mails, person.email)
    const key = await keyOf(person)
    expect(await register(key)).toBe(201)
    expect((await end(person)).status).toBe(204)
    for (const { call } of [person, other]) expect((await call('GET', '/auth/me')).status).toBe(401)
    const body = { refresh_token: person.refresh_token }
    expect((await platform.call('POST', '/auth/refresh', { as: null, body })).status).toBe(401)
    now += 5_001
    expect(await register(key)).toBe(401)
    const again = await signedIn(platform, mails, person.email)
    expect([again.id === person.id, again.org_id === person.org_id]).toEqual([false, false])
    expect((await again.me()).workspaces.length).toBe(1)
  })

  it.each(['', 'x', 'other@example.org'])('does not end with the confirmation %j', async (email) => {
    const person = await newPerson()
    const { status, body } = await end(person, email)
    expect([status, body.code, body.errors[0]?.path]).toEqual([422, 'INVALID', 'email'])
    expect((await person.call('DELETE', '/auth/me', {})).status).toBe(422)
    expect((await person.me()).email).toBe(person.email)
  })

  it('limits wrong confirmations', async () => {
    const person = await newPerson()
    const statuses = []
    for (let attempt = 0; attempt < 12; attempt++) statuses.push((await end(person, 'x')).status)
    expect([statuses[0], statuses.at(-1)]).toEqual([422, 429])
  })

  it('ends with any spelling of its address', async () => {
    const person = await newPerson()
    expect((await end(person, ` ${person.email.toUpperCase()} `)).status).toBe(204)
  })

  it('ends once for concurrent requests', async () => {
    const person = await newPerson()
    const answers = await Promise.all([end(person), end(person), end(person)])
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses[0]).toBe(204)
    for (const status of statuses.slice(1)) expect([401, 404]).toContain(status)
  })

  it('does not change the workspaces and keys of other owners', async () => {
    const { owner, path, org_id } = await shared()
    const admin = await newPerson()
    await join(owner, admin, org_id, 'admin')
    const key = await keyOf(admin)
    const invited = (await admin.call<Offer>('POST', `${path}/offers`, { kind: 'invitation', email: 'g@example.org' }))
      .body
    expect((await end(admin)).status).toBe(204)
    now += 5_001
    expect(await register(key)).toBe(201)
    expect(await rolesIn(owner, org_id)).toEqual([[owner.email, 'owner']])
    const { offers } = (await owner.call<OfferList>('GET', `${path}/offers`)).body
    expect(offers.find(({ id }) => id === invited.id)?.state).toBe('revoked')
    expect(JSON.stringify(offers)).not.toContain(admin.email)
    const { events } = (await owner.call<EventList>('GET', `/api/v1/events?actor=${admin.id}`)).body
    expect(events[0]).toMatchObject({ kind: 'member.left', subject_kind: 'member', subject_id: admin.id })
  })

  it('does not end while it owns workspaces with other members', async () => {
    const { owner, path, org_id } = await shared('Acme')
    const personal = (await owner.me()).workspaces.find(({ kind }) => kind === 'personal')?.org_id ?? ''
    await owner.call('POST', `/auth/workspaces/${personal}/promote`, { name: 'Beta' })
    const member = await newPerson()
    await join(owner, member, org_id, 'member')
    await join(owner, member, personal, 'member')
    const { status, body } = await end(owner)
    expect([status, body.code]).toEqual([409, 'CONFLICT'])
    expect(body.detail).toMatch(/`Acme`/)
    expect(body.detail).toMatch(/`Beta`.*svc workspace offer transfer EMAIL.*successor/)
    expect((await owner.me()).workspaces.length).toBe(3)
    // Afterwards one workspace is transferred, and the other one has no other member.
    const offer = { kind: 'transfer', email: member.email }
    const { id } = (await owner.call<Offer>('POST', `${path}/offers`, offer)).body
    await member.call('POST', `/auth/offers/${id}/accept`)
    expect((await end(owner)).body.detail).not.toMatch(/`Acme`/)
    await owner.call('POST', `/auth/workspaces/${personal}/members/${member.id}/remove`)
    expect((await end(owner)).status).toBe(204)
    expect(await rolesIn(member, org_id)).toEqual([[member.email, 'owner']])
  })

  it('transfers its workspaces to the successor', async () => {
    const { owner, path, org_id } = await shared()
    const successor = await newPerson()
    await join(owner, successor, org_id, 'member')
    await owner.call('POST', `/auth/workspaces/${org_id}/switch`)
    const key = await keyOf(owner)
    const { id } = (await owner.call<Offer>('POST', `${path}/offers`, { kind: 'successor', email: successor.email }))
      .body
    expect((await end(owner)).status).toBe(409)
    await successor.call('POST', `/auth/offers/${id}/accept`)
    expect((await end(owner)).status).toBe(204)
    expect(await rolesIn(successor, org_id)).toEqual([[successor.email, 'owner']])
    expect(await register(key)).toBe(201)
  })

  it('can end while it is suspended in a workspace', async () => {
    const { owner, path, org_id } = await shared()
    const member = await newPerson()
    await join(owner, member, org_id, 'member')
    await owner.call('POST', `${path}/members/${member.id}/suspend`)
    expect((await end(member)).status).toBe(204)
    expect(await rolesIn(owner, org_id)).toEqual([[owner.email, 'owner']])
  })

  it('ends its invitations, sign-in links and device codes', async () => {
    const { owner, path } = await shared()
    const person = await newPerson()
    const offer = (await owner.call<Offer>('POST', `${path}/offers`, { kind: 'invitation', email: person.email })).body
    const link = await mails.tokenFor(person.email)
    await platform.call('POST', '/auth/magic-link', { as: null, body: { email: person.email } })
    const token = await mails.tokenFor(person.email)
    const code = (await platform.call<Record<string, string>>('POST', '/auth/device/code', { as: null, body: {} })).body
    await person.call('POST', '/auth/device/decision', { user_code: code.user_code, decision: 'approve' })
    expect((await end(person)).status).toBe(204)
    const post = (at: string, body: object) => platform.call<Problem>('POST', at, { as: null, body })
    expect((await post('/auth/magic-link/verify', { token })).status).toBe(401)
    expect((await post('/auth/invitation/accept', { token: link })).status).toBe(409)
    expect((await post('/auth/device/token', { device_code: code.device_code })).body).toMatchObject({
      error: 'invalid_grant',
    })
    const { offers } = (await owner.call<OfferList>('GET', `${path}/offers`)).body
    expect(offers.find(({ id }) => id === offer.id)).toMatchObject({ state: 'declined', email: person.id })
  })
})

describe('the account page', () => {
  it('ends the account by a button and the address', async () => {
    const email = `person${count++}@example.org`
    const cookie = await browserOf(platform, mails, email)
    const csrf = /svc_csrf=([^;]+)/.exec(cookie)?.[1] ?? ''
    const press = (form: Record<string, string>) =>
      fetch(`${platform.url}/account`, {
        method: 'POST',
        headers: { cookie },
        body: new URLSearchParams({ act: 'end', ...form }),
      })
    const page = await (await fetch(`${platform.url}/account`, { headers: { cookie } })).text()
    expect(page).toContain('End my account')
    await press({ email })
    const wrong = await press({ csrf, email: 'other@example.org' })
    expect([wrong.status, await wrong.text()]).toEqual([
      409,
      expect.stringContaining('This is not the address of your account.'),
    ])
    const ended = await press({ csrf, email })
    expect([ended.status, await ended.text()]).toEqual([200, expect.stringContaining('Your account has ended')])
    expect(ended.headers.getSetCookie().every((one) => one.includes('Expires=Thu, 01 Jan 1970'))).toBe(true)
    expect((await fetch(`${platform.url}/account`, { headers: { cookie }, redirect: 'manual' })).status).toBe(303)
  })
})

describe('the database', () => {
  it('does not contain the address of an ended account, and keeps its log', async () => {
    const address = 'erased.person@example.org'
    const person = await signedIn(platform, mails, address)
    const { owner, path } = await shared()
    await owner.call('POST', `${path}/offers`, { kind: 'invitation', email: address })
    await person.call('POST', '/auth/offers')
    await keyOf(person)
    expect((await end(person)).status).toBe(204)
    await platform.close()
    const db = await openDatabase(readConfig(platform.env).value)
    const found = await withUnscopedTransaction(db, async (tx) => {
      const tables = await tx.query<{ name: string }>(
        `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
      )
      const holding: string[] = []
      for (const { name } of tables)
        if ((await tx.query(`select 1 from "${name}" t where t::text ilike $1 limit 1`, [`%${address}%`])).length > 0)
          holding.push(name)
      const [log] = await tx.query<{ size: number }>('select count(*)::int as size from log_leaves where org_id = $1', [
        person.org_id,
      ])
      return { holding, size: log?.size ?? 0, tables: tables.length }
    })
    await db.close()
    expect([found.holding, found.size > 0, found.tables > 20]).toEqual([[], true, true])
    platform = await platform.restart()
  })
})
