// Concurrent changes in one workspace: each of them completes, and other workspaces do not wait.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type MailServer, startMailServer } from '../../support/people/mail.js'
import { join, type SignedIn, signedIn } from '../../support/people/people.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('a workspace on a server', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  let mails: MailServer
  let owner: SignedIn
  let member: SignedIn
  let key: string
  const path = () => `/auth/workspaces/${owner.org_id}/members/${member.id}`
  beforeAll(async () => {
    mails = await startMailServer()
    const SVC_ENCRYPTION_KEY = Buffer.alloc(32, 5).toString('hex')
    platform = await startPlatform({ database_url: url, env: { SVC_SMTP_URL: mails.url, SVC_ENCRYPTION_KEY } })
    owner = await signedIn(platform, mails, 'owner@example.org')
    member = await signedIn(platform, mails, 'member@example.org')
    await owner.call('POST', `/auth/workspaces/${owner.org_id}/promote`, { name: 'Acme' })
    await join(owner, member, owner.org_id, 'member')
    key = (await owner.call<{ key: string }>('POST', '/auth/api-keys', { name: 'k' })).body.key
  })
  afterAll(async () => {
    await discard(platform)
    await mails.close()
  })

  it('accepts registrations, steps and holds while its members change', async () => {
    const registered = async (round: number) =>
      (await platform.call('POST', '/api/v1/agents', { as: key, body: { agent_key: `agent-${round}` } })).status
    expect(await registered(0)).toBe(201)
    const logged = async (round: number) => {
      const step = { step: 1, step_type: 'START_NODE', timestamp: '2026-01-05T09:00:00Z' }
      const body = { agent_key: 'agent-0', task_id: `task-${round}`, ...step }
      return (await platform.call('POST', '/api/v1/logs', { as: key, body })).status
    }
    const changed = async (round: number) =>
      (await owner.call('POST', `${path()}/role`, { role: round % 2 === 0 ? 'auditor' : 'member' })).status
    const held = async () => (await owner.call('POST', '/api/v1/holds', { reason: 'a test' })).status
    const repeated = async (request: (round: number) => Promise<number>) => {
      const answers: number[] = []
      for (let round = 1; round <= 15; round++) answers.push(await request(round))
      return answers
    }
    const [some, others, roles, more, holds] = await Promise.all([
      repeated(registered),
      repeated(logged),
      repeated(changed),
      repeated(changed),
      repeated(held),
    ])
    expect([some, others, holds].map((answers) => new Set(answers))).toEqual([
      new Set([201]),
      new Set([201]),
      new Set([201]),
    ])
    expect(new Set([...(roles ?? []), ...(more ?? [])])).toEqual(new Set([204]))
  })

  it('does not block other workspaces while its log is locked', async () => {
    const others = [
      await signedIn(platform, mails, 'two@example.org'),
      await signedIn(platform, mails, 'three@example.org'),
    ]
    const holder = new pg.Client(url)
    await holder.connect()
    await holder.query('begin')
    await holder.query('select 1 from org_log where org_id = any($1) for update', [
      [owner, ...others].map(({ org_id }) => org_id),
    ])
    const waiting = Array.from({ length: 8 }, (_, round) =>
      owner.call('POST', `${path()}/role`, { role: round % 2 === 0 ? 'auditor' : 'member' }),
    )
    const promoted = others.map((one) => one.call('POST', `/auth/workspaces/${one.org_id}/promote`, { name: 'B' }))
    const held = others.flatMap((one) =>
      Array.from({ length: 8 }, () => one.call('POST', '/api/v1/holds', { reason: 'a test' })),
    )
    // Outside the transaction, whose snapshot of the statistics does not change.
    const isStuck = `select count(*) from pg_stat_activity where wait_event_type = 'Lock'`
    await vi.waitFor(() => expect(Number(postgres.psql(url, isStuck))).toBe(6), soon)
    // Answered while the lock is held: it is released only afterwards.
    const stranger = await signedIn(platform, mails, 'stranger@example.org')
    expect((await stranger.call('GET', '/auth/me')).status).toBe(200)
    await holder.query('rollback')
    await holder.end()
    expect((await Promise.all([...waiting, ...promoted])).map(({ status }) => status)).toEqual(Array(10).fill(204))
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual(Array(16).fill(201))
  })
})
