// The tests of random histories: many in memory, a few in real repositories.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openRoom, playHistory } from '../engine/manifest-histories.js'
import { numbers } from '../engine/policy-pairs.js'
import { type BranchHosts, hostsInMemory, hostsOfGit } from '../git/branch-hosts.js'
import { sharedPostgres } from '../server/postgres.js'

interface Counts {
  readonly memory: number
  readonly git: number
  readonly steps: number
}

/** Histories in progress at a time. */
const concurrent = 8

/** SVC_HISTORY_SEED repeats the histories of a run; the first of them has this seed. */
export async function describeHistories({ memory, git, steps }: Counts): Promise<void> {
  const postgres = await sharedPostgres()
  const first = Number(process.env.SVC_HISTORY_SEED ?? Date.now() % 2 ** 24)
  const folder = mkdtempSync(join(tmpdir(), 'svc-model-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const play = async (hosts: BranchHosts, count: number) => {
    const room = await openRoom(postgres?.freshDatabase() ?? '', folder, hosts)
    const wrong: unknown[] = []
    let next = first
    const playNext = async () => {
      while (next < first + count && wrong.length === 0) {
        const seed = next++
        const problems = await playHistory(room, seed, steps)
        if (problems.length > 0) wrong.push({ seed, problems })
      }
    }
    await Promise.all(Array.from({ length: concurrent }, playNext)).finally(room.close)
    expect(wrong).toEqual([])
  }
  describe.skipIf(postgres === null)(`random histories (SVC_HISTORY_SEED=${first})`, () => {
    it(`end as the model, ${memory} of them`, () => play(hostsInMemory(numbers(first)), memory))
    it(`end as the model in real repositories, ${git} of them`, () => play(hostsOfGit(), git))
  })
}
