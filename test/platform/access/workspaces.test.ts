// Workspaces: members, offers, roles and suspension.
import type { Offer, OfferList, Problem, Workspace } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, rolesIn, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'

let now = Date.parse('2026-03-01T09:00:00Z')
let mails: MailServer
let platform: TestPlatform
let count = 0
/** A person with a new account. */
const newPerson = (): Promise<SignedIn> => {
  now += 60_000
  return signedIn(platform, mails, `person${count++}@example.org`)
}
/** A shared workspace and its owner, whose session is in it. */
async function shared(): Promise<{ owner: SignedIn; path: string; org_id: string }> {
  const owner = await newPerson()
  const path = `/auth/workspaces/${owner.org_id}`
  expect((await owner.call('POST', `${path}/promote`, { name: 'Acme' })).status).toBe(204)
  return { owner, path, org_id: owner.org_id }
}
const offer = async (person: SignedIn, path: string, body: object) =>
  person.call<Offer & Problem>('POST', `${path}/offers`, body)

beforeAll(async () => {
  mails = await startMailServer()
  platform = await startPlatform({ env: { SVC_SMTP_URL: mails.url }, clock: () => now })
})
afterAll(async () => {
  await discard(platform)
  await mails.close()
})

describe('a workspace', () => {
  it('is promoted once, and its owner gets a new personal one', async () => {
    const owner = await newPerson()
    const path = `/auth/workspaces/${owner.org_id}`
    expect((await owner.call('POST', `${path}/promote`, { name: '' })).status).toBe(422)
    expect((await owner.call('POST', `${path}/promote`, { name: 'Acme' })).status).toBe(204)
    expect((await owner.call<Problem>('POST', `${path}/promote`, { name: 'Again' })).body.code).toBe(
      'INVALID_TRANSITION',
    )
    const { workspaces, current_workspace } = await owner.me()
    expect(current_workspace).toBe(owner.org_id)
    const kinds = workspaces.map(({ kind, role, name }: Workspace) => [kind, role, name])
    expect(kinds).toEqual([
      ['personal', 'owner', expect.any(String)],
      ['shared', 'owner', 'Acme'],
    ])
  })

  it('is invisible to people who are not members', async () => {
    const { path } = await shared()
    const stranger = await newPerson()
    const tries: [string, string, object?][] = [
      ['GET', `${path}/members`],
      ['GET', `${path}/offers`],
      ['POST', `${path}/offers`, { kind: 'invitation', email: stranger.email }],
      ['POST', `${path}/switch`],
      ['POST', `${path}/leave`],
      ['POST', `${path}/promote`, { name: 'Mine' }],
      ['POST', `${path}/members/${stranger.id}/suspend`],
      ['POST', `${path}/members/${stranger.id}/role`, { role: 'member' }],
    ]
    const nowhere = '/auth/workspaces/org_00000000000000000000000000000000'
    for (const [method, at, body] of tries) {
      const there = await stranger.call<Problem>(method, at, body)
      const missing = await stranger.call<Problem>(method, at.replace(path, nowhere), body)
      expect([at, there.status, there.body.detail]).toEqual([at, 404, missing.body.detail])
    }
  })
})

describe('an invitation', () => {
  it.each(['{{7*7}} <img src=x onerror=alert(1)>', '"; {{constructor}} </p><script>x</script>', 'Acme Bcc: a@b.org'])(
    'escapes the workspace name %s in its mail',
    async (name) => {
      const owner = await newPerson()
      const guest = `guest${count++}@example.org`
      const path = `/auth/workspaces/${owner.org_id}`
      expect((await owner.call('POST', `${path}/promote`, { name })).status).toBe(204)
      expect((await offer(owner, path, { kind: 'invitation', email: guest })).status).toBe(201)
      const [mail = ''] = mails.mailsTo(guest)
      const [head = '', ...parts] = mail.split(/\r?\n\r?\n/)
      expect(head).not.toContain(name.slice(0, 5))
      const html = parts.join('\n\n').split('text/html')[1] ?? ''
      expect(html).not.toMatch(/<img|<script|>49 /)
      expect(parts.join('')).toContain(name.slice(0, 4))
    },
  )

  it.each(['pay at https://evil.example/login', 'a\u202eb', 'a\nb', ''])(
    'rejects the workspace name %j',
    async (name) => {
      const owner = await newPerson()
      expect((await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name })).status).toBe(422)
    },
  )

  it('is sent to a mailbox at most five times in 15 minutes', async () => {
    const { owner, path } = await shared()
    const guest = await newPerson()
    const invite = () => offer(owner, path, { kind: 'invitation', email: guest.email })
    for (let count = 0; count < 5; count++) {
      const { status, body } = await invite()
      expect(status).toBe(201)
      expect((await owner.call('POST', `${path}/offers/${body.id}/revoke`)).status).toBe(200)
    }
    expect([
      (await invite()).status,
      (await offer(owner, path, { kind: 'invitation', email: 'x@y.z' })).status,
    ]).toEqual([429, 201])
    now += 600_000
    expect((await invite()).status).toBe(201)
  })

  it('is valid for its address only, and makes a member', async () => {
    const { owner, path, org_id } = await shared()
    const [guest, other] = [await newPerson(), await newPerson()]
    const { status, body } = await offer(owner, path, { kind: 'invitation', email: guest.email.toUpperCase() })
    expect([status, body]).toMatchObject([
      201,
      { state: 'pending', role: 'member', workspace: 'Acme', email: guest.email },
    ])
    expect(mails.mailsTo(guest.email).at(-1)).toContain('Subject: svc: you are invited to join a workspace')
    expect((await offer(owner, path, { kind: 'invitation', email: guest.email })).status).toBe(409)
    expect((await other.call('POST', `/auth/offers/${body.id}/accept`)).status).toBe(404)
    expect((await other.call<OfferList>('GET', '/auth/offers')).body.offers).toEqual([])
    expect((await guest.call<OfferList>('GET', '/auth/offers')).body.offers).toMatchObject([{ id: body.id, org_id }])
    expect((await guest.call<Offer>('POST', `/auth/offers/${body.id}/accept`)).body.state).toBe('accepted')
    expect((await guest.call<Problem>('POST', `/auth/offers/${body.id}/accept`)).body.code).toBe('INVALID_TRANSITION')
    expect(await rolesIn(guest, org_id)).toEqual([
      [owner.email, 'owner'],
      [guest.email, 'member'],
    ])
    expect((await offer(owner, path, { kind: 'invitation', email: guest.email })).status).toBe(409)
  })

  it.each(['decline', 'revoke', 'expire'] as const)('cannot be accepted after %s', async (end) => {
    const { owner, path } = await shared()
    const guest = await newPerson()
    const { body } = await offer(owner, path, { kind: 'invitation', email: guest.email })
    if (end === 'decline') await guest.call('POST', `/auth/offers/${body.id}/decline`)
    if (end === 'revoke') await owner.call('POST', `${path}/offers/${body.id}/revoke`)
    if (end === 'expire') now += 7 * 86_400_000
    const again = end === 'expire' ? await signedIn(platform, mails, guest.email) : guest
    const rejected = await again.call<Problem>('POST', `/auth/offers/${body.id}/accept`)
    expect([rejected.status, rejected.body.code]).toEqual([409, 'INVALID_TRANSITION'])
    expect((await again.call('GET', `${path}/members`)).status).toBe(404)
  })

  it('is made in shared workspaces only, by owners and admins', async () => {
    const { owner, path, org_id } = await shared()
    const [member, auditor, guest] = [await newPerson(), await newPerson(), await newPerson()]
    await join(owner, member, org_id, 'member')
    await join(owner, auditor, org_id, 'auditor')
    for (const person of [member, auditor])
      expect((await offer(person, path, { kind: 'invitation', email: guest.email })).status).toBe(403)
    const personal = `/auth/workspaces/${guest.org_id}`
    expect((await offer(guest, personal, { kind: 'invitation', email: member.email })).status).toBe(409)
    for (const body of [
      { kind: 'invitation' },
      { kind: 'gift', email: 'a@b' },
      { kind: 'invitation', email: 'x@y', role: 'owner' },
    ])
      expect((await offer(owner, path, body)).status).toBe(422)
  })
})

describe('the role', () => {
  it('admin needs an accepted offer and can be given up', async () => {
    const { owner, path, org_id } = await shared()
    const [admin, member] = [await newPerson(), await newPerson()]
    await join(owner, admin, org_id, 'admin')
    await join(owner, member, org_id, 'member')
    expect((await owner.call('POST', `${path}/members/${member.id}/role`, { role: 'admin' })).status).toBe(422)
    expect((await offer(owner, path, { kind: 'admin', email: admin.email })).status).toBe(409)
    expect((await offer(owner, path, { kind: 'admin', email: 'unknown@example.org' })).status).toBe(404)
    expect((await admin.call('POST', `${path}/members/${member.id}/role`, { role: 'auditor' })).status).toBe(204)
    expect((await admin.call('POST', `${path}/members/${admin.id}/role`, { role: 'member' })).status).toBe(204)
    expect((await admin.call('POST', `${path}/members/${member.id}/role`, { role: 'member' })).status).toBe(403)
    expect(await rolesIn(owner, org_id)).toEqual([
      [owner.email, 'owner'],
      [admin.email, 'member'],
      [member.email, 'auditor'],
    ])
  })

  it('owner cannot be changed by other members', async () => {
    const { owner, path, org_id } = await shared()
    const admin = await newPerson()
    await join(owner, admin, org_id, 'admin')
    for (const verb of ['suspend', 'remove'])
      expect((await admin.call('POST', `${path}/members/${owner.id}/${verb}`)).status).toBe(409)
    expect((await admin.call('POST', `${path}/members/${owner.id}/role`, { role: 'member' })).status).toBe(409)
    for (const kind of ['transfer', 'successor'])
      expect((await offer(admin, path, { kind, email: admin.email })).status).toBe(403)
  })

  it("owner is transferred by the owner's offer and the recipient's acceptance", async () => {
    const { owner, path, org_id } = await shared()
    const next = await newPerson()
    await join(owner, next, org_id, 'member')
    const { body } = await offer(owner, path, { kind: 'transfer', email: next.email })
    expect(await rolesIn(next, org_id)).toContainEqual([owner.email, 'owner'])
    expect((await next.call('POST', `/auth/offers/${body.id}/accept`)).status).toBe(200)
    expect(await rolesIn(next, org_id)).toEqual([
      [next.email, 'owner'],
      [owner.email, 'admin'],
    ])
    expect((await owner.call('POST', `${path}/leave`)).status).toBe(204)
    expect((await next.call('GET', `${path}/members`)).status).toBe(200)
  })

  it('owner passes to the successor when the owner leaves, not before', async () => {
    const { owner, path, org_id } = await shared()
    const successor = await newPerson()
    expect((await owner.call<Problem>('POST', `${path}/leave`)).body.detail).toContain('successor')
    await join(owner, successor, org_id, 'member')
    const { body } = await offer(owner, path, { kind: 'successor', email: successor.email })
    expect((await owner.call('POST', `${path}/leave`)).status).toBe(409)
    await successor.call('POST', `/auth/offers/${body.id}/accept`)
    expect(await rolesIn(successor, org_id)).toContainEqual([successor.email, 'member'])
    expect((await owner.call('POST', `${path}/leave`)).status).toBe(204)
    expect(await rolesIn(successor, org_id)).toEqual([[successor.email, 'owner']])
    expect((await owner.call('GET', `${path}/members`)).status).toBe(404)
  })

  it('successor can be revoked, and ends when the successor leaves', async () => {
    const { owner, path, org_id } = await shared()
    const [one, two] = [await newPerson(), await newPerson()]
    await join(owner, one, org_id, 'member')
    await join(owner, two, org_id, 'member')
    const first = (await offer(owner, path, { kind: 'successor', email: one.email })).body
    await one.call('POST', `/auth/offers/${first.id}/accept`)
    expect((await owner.call<Offer>('POST', `${path}/offers/${first.id}/revoke`)).body.state).toBe('revoked')
    const second = (await offer(owner, path, { kind: 'successor', email: two.email })).body
    await two.call('POST', `/auth/offers/${second.id}/accept`)
    expect((await two.call('POST', `${path}/leave`)).status).toBe(204)
    expect((await owner.call('POST', `${path}/leave`)).status).toBe(409)
  })

  it('owner passes to the latest successor who is not suspended', async () => {
    const { owner, path, org_id } = await shared()
    const [first, latest] = [await newPerson(), await newPerson()]
    for (const successor of [first, latest]) {
      await join(owner, successor, org_id, 'member')
      const { body } = await offer(owner, path, { kind: 'successor', email: successor.email })
      now += 1000
      expect((await successor.call('POST', `/auth/offers/${body.id}/accept`)).status).toBe(200)
    }
    expect((await owner.call('POST', `${path}/members/${latest.id}/suspend`)).status).toBe(204)
    expect((await owner.call('POST', `${path}/leave`)).status).toBe(204)
    expect(await rolesIn(first, org_id)).toContainEqual([first.email, 'owner'])
  })
})

describe('an offer', () => {
  it('cannot be decided by a suspended member', async () => {
    const { owner, path, org_id } = await shared()
    const member = await newPerson()
    await join(owner, member, org_id, 'member')
    const { body } = await offer(owner, path, { kind: 'admin', email: member.email })
    await owner.call('POST', `${path}/members/${member.id}/suspend`)
    for (const move of ['accept', 'decline'])
      expect((await member.call('POST', `/auth/offers/${body.id}/${move}`)).status).toBe(403)
  })

  it('is listed before decided ones while it is pending', async () => {
    const { owner, path } = await shared()
    const guest = await newPerson()
    const open = (await offer(owner, path, { kind: 'invitation', email: guest.email })).body
    const other = await shared()
    for (let round = 0; round < 3; round++) {
      const { id } = (await offer(other.owner, other.path, { kind: 'invitation', email: guest.email })).body
      expect((await other.owner.call('POST', `${other.path}/offers/${id}/revoke`)).status).toBe(200)
    }
    const { offers } = (await guest.call<OfferList>('GET', '/auth/offers')).body
    expect(offers.map(({ id, state }) => [id === open.id, state])).toEqual([
      [true, 'pending'],
      ...Array(3).fill([false, 'revoked']),
    ])
  })

  it.each(['https://evil.example', 'Go to www.evil.example/unlock', 'WWW.evil.example', 'see evil.example/unlock now'])(
    'rejects the workspace name %s, which reads as a link',
    async (name) => {
      const owner = await newPerson()
      expect((await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name })).status).toBe(422)
    },
  )

  it('becomes void when its sender is no longer the owner', async () => {
    const { owner, path, org_id } = await shared()
    const [next, thief] = [await newPerson(), await newPerson()]
    await join(owner, next, org_id, 'member')
    await join(owner, thief, org_id, 'member')
    const own = (await offer(owner, path, { kind: 'successor', email: thief.email })).body
    await thief.call('POST', `/auth/offers/${own.id}/accept`)
    const stale = (await offer(owner, path, { kind: 'transfer', email: thief.email })).body
    const good = (await offer(owner, path, { kind: 'transfer', email: next.email })).body
    expect((await next.call('POST', `/auth/offers/${good.id}/accept`)).status).toBe(200)
    const rejected = await thief.call<Problem>('POST', `/auth/offers/${stale.id}/accept`)
    expect([rejected.status, rejected.body.detail]).toEqual([409, expect.stringContaining('`revoked`')])
    const { offers } = (await thief.call<OfferList>('GET', '/auth/offers')).body
    expect(offers.filter(({ state }) => state === 'pending')).toEqual([])
    // The successor of the old owner is not the successor of the new owner.
    expect((await next.call('POST', `${path}/leave`)).status).toBe(409)
    expect((await rolesIn(next, org_id))[0]).toEqual([next.email, 'owner'])
  })

  it('cannot demote the owner', async () => {
    const { owner, path, org_id } = await shared()
    const next = await newPerson()
    await join(owner, next, org_id, 'member')
    const admin = (await offer(owner, path, { kind: 'admin', email: next.email })).body
    const transfer = (await offer(owner, path, { kind: 'transfer', email: next.email })).body
    expect((await next.call('POST', `/auth/offers/${transfer.id}/accept`)).status).toBe(200)
    expect((await next.call('POST', `/auth/offers/${admin.id}/accept`)).status).toBe(409)
    expect((await rolesIn(next, org_id))[0]).toEqual([next.email, 'owner'])
  })

  it('becomes void when its sender is no longer an admin', async () => {
    const { owner, path, org_id } = await shared()
    const [admin, friend] = [await newPerson(), await newPerson()]
    await join(owner, admin, org_id, 'admin')
    const { body } = await offer(admin, path, { kind: 'invitation', email: friend.email })
    await owner.call('POST', `${path}/members/${admin.id}/remove`)
    expect((await friend.call('POST', `/auth/offers/${body.id}/accept`)).status).toBe(409)
    expect((await friend.call('GET', `${path}/members`)).status).toBe(404)
  })

  it('is accepted once by concurrent requests', async () => {
    const { owner, path } = await shared()
    const guest = await newPerson()
    const { body } = await offer(owner, path, { kind: 'invitation', email: guest.email })
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => guest.call('POST', `/auth/offers/${body.id}/accept`)),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
  })
})

describe('suspension', () => {
  it('takes effect for one member in one workspace on their next request', async () => {
    const { owner, path, org_id } = await shared()
    const guest = await newPerson()
    await join(owner, guest, org_id, 'member')
    expect((await guest.call('GET', '/api/v1/agents')).status).toBe(200)
    expect((await owner.call('POST', `${path}/members/${guest.id}/suspend`)).status).toBe(204)
    expect((await guest.call<Problem>('GET', '/api/v1/agents')).body.detail).toContain('suspended')
    expect(await guest.me()).toMatchObject({ is_suspended: true, is_capped: false })
    expect((await guest.call('GET', `${path}/members`)).status).toBe(403)
    expect((await guest.call('POST', `/auth/workspaces/${guest.org_id}/switch`)).status).toBe(204)
    expect((await guest.call('GET', '/api/v1/agents')).status).toBe(200)
    expect(await guest.me()).toMatchObject({ is_suspended: false })
    expect((await owner.call('POST', `${path}/members/${guest.id}/unsuspend`)).status).toBe(204)
    expect((await guest.call('POST', `/auth/workspaces/${org_id}/switch`)).status).toBe(204)
    expect((await guest.call('GET', '/api/v1/agents')).status).toBe(200)
  })

  it('is not possible for oneself or for people who are not members', async () => {
    const { owner, path, org_id } = await shared()
    const admin = await newPerson()
    await join(owner, admin, org_id, 'admin')
    expect((await admin.call('POST', `${path}/members/${admin.id}/suspend`)).status).toBe(409)
    expect((await admin.call('POST', `${path}/members/usr_unknown/suspend`)).status).toBe(404)
    expect((await owner.call('POST', `${path}/members/${admin.id}/remove`)).status).toBe(204)
    // The session continues in the workspace of the person.
    expect((await admin.me()).current_workspace).toBe(admin.org_id)
    expect((await admin.call<Problem>('GET', `${path}/members`)).status).toBe(404)
  })
})

describe('a new session', () => {
  it('begins in the last workspace of the person, unless they are suspended there', async () => {
    const { owner, path, org_id } = await shared()
    const guest = await newPerson()
    await join(owner, guest, org_id, 'member')
    const again = async () => {
      now += 300_000
      return (await (await signedIn(platform, mails, guest.email)).me()).current_workspace
    }
    expect(await again()).toBe(org_id)
    expect((await owner.call('POST', `${path}/members/${guest.id}/suspend`)).status).toBe(204)
    expect(await again()).toBe(guest.org_id)
  })
})

describe('a personal workspace', () => {
  it('cannot be left', async () => {
    const person = await newPerson()
    expect((await person.call('POST', `/auth/workspaces/${person.org_id}/leave`)).status).toBe(409)
  })
})
