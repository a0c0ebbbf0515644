// Readings beside operators, and readings of a process that dies: what random histories meet too seldom.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assignManifest } from '../../../platform/git/commands/assign-manifest.js'
import { approve, assignmentOf, pinVersion, unpin } from '../../../platform/git/commands/change-assignment.js'
import { connectRepository } from '../../../platform/git/commands/connect-repository.js'
import { reconcile } from '../../../platform/git/reconcile.js'
import type { GitSources } from '../../../platform/git/source/source.js'
import { openRoom, type Room } from '../../support/engine/manifest-histories.js'
import { hostsInMemory } from '../../support/git/branch-hosts.js'
import { refunds } from '../../support/git/manifests-in-git.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()
const folder = mkdtempSync(join(tmpdir(), 'svc-races-'))
const [one, two, three] = [{ name: 'one' }, { name: 'two' }, { name: 'three' }]
const full = refunds([one, two, three])

describe.skipIf(postgres === null)('a reading', () => {
  let room: Room
  beforeAll(async () => {
    room = await openRoom(postgres?.freshDatabase() ?? '', folder, hostsInMemory(Math.random))
  })
  afterAll(async () => {
    await room.close()
    rmSync(folder, { recursive: true, force: true })
  })

  /** A repository with the manifest at each path, assigned to the first agent. */
  const connected = async (name: string, paths: readonly string[]) => {
    const [parts] = room.processes as [Room['processes'][number]]
    const branch = room.hosts.add(name)
    const commit = (text: string, given = paths) => branch.commit(Object.fromEntries(given.map((path) => [path, text])))
    const first = commit(full)
    const request = { url: branch.url, owner: 'acme', name, branch: 'main' }
    const { id: repo_id } = await connectRepository(parts, room.scope, request)
    const assign = (manifest_path: string, by = parts) =>
      assignManifest(by, room.scope, { agent_id: room.agents[0] as string, repo_id, manifest_path })
    const ids: number[] = []
    for (const path of paths) ids.push((await assign(path)).id)
    const poll = (by = parts) => reconcile(by, room.scope, repo_id)
    await poll()
    const states = () => Promise.all(ids.map((id) => assignmentOf(parts, room.scope, id)))
    return { parts, branch, commit, first, assign, poll, states, ids }
  }

  it('that lists the assignments before one is made lets the next reading compare that one', async () => {
    const { parts, branch, commit, assign, poll } = await connected('listed', ['a.yaml'])
    branch.commit({ 'a.yaml': full, 'b.yaml': full })
    await poll()
    let made: Promise<{ id: number }> | null = null
    const sources: GitSources = {
      ...room.hosts.sources,
      open: (address, cache) => {
        const source = room.hosts.sources.open(address, cache)
        return {
          ...source,
          list: async (sha) => {
            // The reading has listed the assignments; this one is made from the head before.
            made ??= assign('b.yaml', { ...parts, sources: { ...room.hosts.sources, open: () => earlier } })
            await made
            return source.list(sha)
          },
        }
      },
    }
    const address = { provider: 'git', owner: '', name: '', branch: 'main', url: branch.url, token: null } as const
    const now = room.hosts.sources.open(address, '')
    const before = await now.resolve(null)
    const earlier = { ...now, resolve: async () => before }
    commit(refunds([one, two]), ['a.yaml', 'b.yaml'])
    await poll({ ...parts, sources })
    await poll()
    const { id } = await (made as unknown as Promise<{ id: number }>)
    expect(await assignmentOf(parts, room.scope, id)).toMatchObject({ status: 'synced', policies: 2 })
  })

  it('is repeated for an operator when another operator begins a later one', async () => {
    const { commit, poll, states, ids } = await connected('approved', ['a.yaml', 'b.yaml', 'c.yaml'])
    commit(refunds([one]))
    await poll()
    expect((await states()).map(({ status }) => status)).toEqual(['out_of_sync', 'out_of_sync', 'out_of_sync'])
    const [first, second] = room.processes as [Room['processes'][number], Room['processes'][number]]
    await Promise.all(ids.map((id, index) => approve(index === 1 ? second : first, room.scope, id, null)))
    expect((await states()).map(({ status, policies }) => [status, policies])).toEqual(ids.map(() => ['synced', 1]))
  })

  it('that fails as the one before says so on an assignment that was rolled back meanwhile', async () => {
    const { parts, branch, commit, poll, states, ids } = await connected('rolled-back', ['a.yaml'])
    const [id = 0] = ids
    const [before] = await states()
    commit(refunds([one, two]))
    await poll()
    branch.setOutage(true)
    await poll()
    await pinVersion(parts, room.scope, id, before?.manifest_sha ?? null)
    expect(await states()).toMatchObject([{ status: 'pinned', conditions: [{ kind: 'fetch_failed' }] }])
    expect(await unpin(parts, room.scope, id)).toMatchObject({
      status: 'degraded',
      conditions: [{ kind: 'fetch_failed' }],
    })
  })

  it('of a process that dies half-way is made good, also when the head has returned to the commit before', async () => {
    const paths = Array.from({ length: 15 }, (_, index) => `${String.fromCharCode(97 + index)}.yaml`)
    const { parts, branch, commit, first, poll, states } = await connected('half', paths)
    commit(refunds([one, two]))
    let calls = 0
    const clock = () => {
      calls += 1
      // Beginning, validating 15 files and writing 10 assignments take 26: the rest is not written, nor the end of the reading.
      if (calls > 28) throw new Error('killed')
      return parts.clock()
    }
    await expect(poll({ ...parts, clock })).rejects.toThrow('killed')
    expect(new Set((await states()).map(({ policies }) => policies))).toEqual(new Set([2, 3]))
    branch.move(first)
    await reconcile({ ...parts, clock: () => parts.clock() + 60_000 }, room.scope, (await states())[0]?.repo_id ?? 0)
    expect((await states()).map(({ status, policies }) => [status, policies])).toEqual(paths.map(() => ['synced', 3]))
  })
})
