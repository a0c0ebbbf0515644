// Stored deliveries: each is handled at least once, and once by all processes together.
import { randomUUID } from 'node:crypto'
import { readConfig } from '@svc/platform'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Attempt } from '../../app/github/app-api.js'
import { createRepeats } from '../../app/github/retry-later.js'
import { deliveryJobs, type Received } from '../../app/receiver/handle-job.js'
import { missedJob } from '../../app/receiver/missed.js'
import { receive } from '../../app/receiver/receive.js'
import { withUnscopedTransaction } from '../../platform/db/db.js'
import { signature } from '../support/git/github-app.js'
import { type JobRoom, openJobRoom } from '../support/server/jobs.js'
import { sharedPostgres } from '../support/server/postgres.js'
import { serverKey } from '../support/server/process.js'
import { soon } from '../support/server/soon.js'

const secret = 'a-secret-of-this-test-only'
const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('stored deliveries', () => {
  const config = () =>
    readConfig({ SVC_DATABASE_URL: postgres?.freshDatabase() ?? '', SVC_ENCRYPTION_KEY: serverKey }).value
  let room: JobRoom
  beforeAll(async () => {
    room = await openJobRoom(config())
  })
  afterAll(() => room.close())

  const jobsWith = (handle: (received: Received) => Promise<void>, clock = Date.now) =>
    deliveryJobs({ db: room.db, clock, handle })
  const post = (send: Parameters<typeof receive>[0]['send'], id: string) => {
    const raw = Buffer.from(JSON.stringify({ text: id }))
    const headers: Readonly<Record<string, string>> = {
      'content-type': 'application/json; charset=utf-8',
      'x-github-delivery': id,
      'x-github-event': 'push',
      'x-hub-signature-256': signature(secret, raw),
    }
    const parts = { db: room.db, clock: Date.now, send, secrets: [secret], isHandled: () => true }
    return receive(parts, raw, (name) => headers[name])
  }
  const rowsOf = (ids: readonly string[]) =>
    withUnscopedTransaction(room.db, (tx) =>
      tx.query<{ status: string; attempts: number; error: string | null }>(
        'select status, attempts, error from github_deliveries where delivery_id = any($1::text[])',
        [ids],
      ),
    )
  const until = (check: () => Promise<void>) => vi.waitFor(check, soon)

  it('are handled once by two processes', async () => {
    const handled: string[] = []
    const handle = async ({ payload }: Received) => {
      handled.push(String(payload.text))
    }
    const processes = [await room.open(jobsWith(handle)), await room.open(jobsWith(handle))]
    const ids = Array.from({ length: 40 }, () => randomUUID())
    const both = ids.flatMap((id) => processes.map(({ send }) => post(send, id)))
    const outcomes = (await Promise.all(both)).map(({ outcome }) => outcome)
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(ids.length)
    await until(async () => expect(new Set((await rowsOf(ids)).map(({ status }) => status))).toEqual(new Set(['done'])))
    expect(handled.sort()).toEqual([...ids].sort())
    await Promise.all(processes.map((one) => one.close()))
  })

  it('survive the end of the process that handles them', async () => {
    const id = randomUUID()
    let begun = 0
    const first = await room.open(
      jobsWith(async () => {
        begun += 1
        await new Promise(() => undefined)
      }),
    )
    await post(first.send, id)
    await until(async () => expect(begun).toBe(1))
    await first.close()
    expect(await rowsOf([id])).toMatchObject([{ status: 'waiting', attempts: 1 }])
    const second = await room.open(jobsWith(async () => undefined))
    await until(async () => expect(await rowsOf([id])).toMatchObject([{ status: 'done', attempts: 2 }]))
    await second.close()
  })

  it('whose handler fails say why, and are tried again', async () => {
    const id = randomUUID()
    const jobs = jobsWith(async () => {
      throw new Error('out of luck')
    })
    await post(async () => undefined, id)
    const handle = jobs.find(({ name }) => name === 'handle-github-delivery')
    const { signal } = new AbortController()
    const run = async () => handle?.run({ delivery_id: id }, signal, 1)
    await expect(run()).rejects.toThrow('out of luck')
    expect(await rowsOf([id])).toEqual([{ status: 'failed', attempts: 1, error: 'out of luck' }])
    expect(handle).toMatchObject({ retries: 5 })
    await jobsWith(async () => undefined)[0]?.run({ delivery_id: id }, signal, 1)
    expect(await rowsOf([id])).toEqual([{ status: 'done', attempts: 2, error: null }])
  })

  it('that GitHub could not deliver are asked for, each once', async () => {
    const opened = await room.open(jobsWith(async () => undefined))
    const received = randomUUID()
    await post(opened.send, received)
    await until(async () => expect(await rowsOf([received])).toMatchObject([{ status: 'done' }]))
    await opened.close()
    const asked: number[] = []
    const attempt = (id: number, guid: string, is_delivered = false, event = 'push'): Attempt => ({
      id,
      guid,
      at: id,
      is_delivered,
      event,
      action: null,
    })
    const again = [...Array(6).keys()].map((count) => attempt(60 + count, 'failed six times'))
    const attempts = [
      attempt(1, 'delivered later'),
      attempt(2, 'delivered later', true),
      attempt(3, received),
      attempt(4, 'missed'),
      attempt(5, 'missed'),
      attempt(6, 'of another event', false, 'star'),
      ...again,
    ]
    const deliverAgain = async (id: number) => {
      asked.push(id)
    }
    const app = { attemptsSince: async () => attempts, deliverAgain }
    const isHandled = (event: string) => event === 'push'
    const repeats = createRepeats({ warn: () => undefined, info: () => undefined })
    const job = missedJob({ db: room.db, clock: Date.now, send: async () => undefined, app, repeats, isHandled })
    await job.run({}, new AbortController().signal, 1)
    expect(asked).toEqual([5])
  })

  it('are rejected while more than 1,000 wait, and deleted after 30 days', async () => {
    const id = randomUUID()
    await withUnscopedTransaction(room.db, (tx) =>
      tx.query(`insert into github_deliveries (delivery_id, event, body, status, received_at)
        select 'filler-' || n, 'push', '{}', 'waiting', now() from generate_series(1, 1000) n`),
    )
    await expect(post(async () => undefined, id)).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      headers: { 'retry-after': '60' },
    })
    expect(await rowsOf([id])).toEqual([])
    const later = () => Date.now() + 31 * 24 * 3600_000
    const jobs = jobsWith(async () => undefined, later)
    const { signal } = new AbortController()
    await jobs.find(({ name }) => name === 'delete-github-deliveries')?.run({}, signal, 1)
    expect(await withUnscopedTransaction(room.db, (tx) => tx.query('select 1 from github_deliveries'))).toEqual([])
  })
})
