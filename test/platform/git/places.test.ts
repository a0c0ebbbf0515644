// Readings of Git hosts that never answer: a bounded number of processes, and an answer at once for those beyond.
import { readdirSync, readFileSync } from 'node:fs'
import type { Problem } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createGitPlaces } from '../../../platform/git/places.js'
import { createPlaces } from '../../../platform/jobs/places.js'
import { type GitHost, startGitHost } from '../../support/git/git-host.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

let host: GitHost
let platform: TestPlatform
beforeAll(async () => {
  host = await startGitHost()
  platform = await startPlatform()
})
afterAll(async () => {
  host.close()
  await discard(platform)
})

/** The process groups of Git that read from the host of this test. */
function readings(): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.filter((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return words[1] === 'ls-remote' && words.some((word) => word.startsWith(host.url))
    } catch {
      return false
    }
  }).length
}

const connect = (name: string) =>
  platform.call<Problem>('POST', '/api/v1/repos', { body: { url: `${host.url}/${name}`, branch: 'main' } })

describe('a workspace that connects repositories of a silent host', () => {
  it('runs two readings, and the others are told to retry', async () => {
    const held: (() => void)[] = []
    host.intercept = (_, response) => held.push(() => response.destroy()) > 0
    const answers: Awaited<ReturnType<typeof connect>>[] = []
    const calls = Array.from({ length: 20 }, async (_, index) => answers.push(await connect(`silent-${index}.git`)))
    await vi.waitFor(() => expect([answers.length, readings()]).toEqual([18, 2]), soon)
    for (const { status, headers, body } of answers)
      expect([status, body.code, headers.get('retry-after')]).toEqual([429, 'RATE_LIMITED', '10'])
    host.intercept = (_, response) => response.destroy() === response
    for (const end of held) end()
    await Promise.all(calls)
    host.intercept = () => false
    expect(answers.map(({ status }) => status).filter((status) => status !== 429)).toEqual([503, 503])
    expect(readings()).toBe(0)
    host.add('open.git').commit({ 'a.yaml': 'name: a\n' })
    expect((await connect('open.git')).status).toBe(201)
  })

  it.skipIf(postgres === null)('has at most 100 of them', async () => {
    host.add('one-more.git').commit({ 'a.yaml': 'name: a\n' })
    const row = `select org_id, 1000 + n, 'git', 'o', 'n' || n, 'main', 'https://example.org/' || n, 'public', 'synced', now(), 'test'`
    postgres?.psql(
      platform.env.SVC_DATABASE_URL ?? '',
      `insert into repositories (org_id, id, provider, owner, name, branch, url, visibility, status, created_at, created_by)
       ${row} from (select distinct org_id from repositories) o, generate_series(1, 100) n`,
    )
    const { status, body } = await connect('one-more.git')
    expect([status, body.code, body.detail]).toEqual([
      409,
      'CONFLICT',
      expect.stringContaining('at most 100 repositories'),
    ])
  })
})

describe('a place for Git', () => {
  it('is given to a reading that waits when another one ends, and 4 of a workspace wait', async () => {
    const places = createGitPlaces(createPlaces(3, 2))
    const enter = (org_id: string) => places({ org_id }, 'git')
    const [first] = [await enter('a'), await enter('a')]
    const order: number[] = []
    const waiting = [0, 1, 2, 3].map(async (index) => {
      const leave = await enter('a')
      order.push(index)
      leave?.()
    })
    expect(await enter('a')).toBeNull()
    expect(await enter('b')).not.toBeNull()
    first?.()
    await Promise.all(waiting)
    expect(order).toEqual([0, 1, 2, 3])
  })
})

describe('places', () => {
  it('are limited in all and for each workspace, and can be given back', () => {
    const places = createPlaces(3, 2)
    const taken = ['a', 'a', 'a', 'b', 'b', 'c'].map((owner) => places.enter(owner))
    expect(taken.map((leave) => leave !== null)).toEqual([true, true, false, true, false, false])
    expect(places.free()).toBe(0)
    taken[0]?.()
    expect([places.enter('c') !== null, places.enter('a')]).toEqual([true, null])
    expect(places.owners()).toEqual([
      { owner: 'a', taken: 1, turn: 2 },
      { owner: 'b', taken: 1, turn: 3 },
      { owner: 'c', taken: 1, turn: 4 },
    ])
  })
})
