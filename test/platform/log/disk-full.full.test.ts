// The disk fills up: what cannot be kept is refused, nothing acknowledged is lost, and it goes on once there is room.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoggedStep, Problem, TaskChain, Verification } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { fast, register } from '../../support/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { hasPostgres, startPostgres } from '../../support/postgres.js'

/** A small disk of its own; null where none can be mounted. */
function smallDisk(megabytes: number): { readonly folder: string; readonly remove: () => void } | null {
  const folder = mkdtempSync(join(tmpdir(), 'svc-disk-'))
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder])
  if (status !== 0) {
    console.log('skipped: no small disk can be mounted here')
    rmSync(folder, { recursive: true })
    return null
  }
  const remove = () => {
    spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  return { folder, remove }
}

/** Leaves so much room on the disk that a file stands in. */
function fill(path: string, folder: string, left: number): void {
  const { bavail, bsize } = statfsSync(folder)
  writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - left)))
}

async function survives(platform: TestPlatform, folder: string): Promise<void> {
  const filler = join(folder, 'filler')
  const acknowledged = new Map<number, string>()
  const log = (step: number) =>
    platform.call<LoggedStep & Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: {
        ...{ task_id: 't', step, step_type: step === 1 ? 'START_NODE' : 'step.model' },
        ...{ timestamp: '2026-01-05T09:00:00Z', input: { text: 'x'.repeat(50_000) } },
      },
    })
  await register(platform)
  let step = 1
  const keep = async (count: number) => {
    for (let tries = 0; tries < count; tries++) {
      const { status, body, headers } = await log(step)
      if (status === 201 || status === 200) acknowledged.set(step++, body.hash)
      else return { status, code: body.code, retry: headers.get('retry-after') }
    }
    return null
  }
  expect(await keep(20)).toBeNull()
  fill(filler, folder, 1_000_000)
  const refused = await keep(400)
  expect(refused).toEqual({ status: 503, code: 'UNAVAILABLE', retry: '1' })
  expect(step).toBeGreaterThan(20)
  // An entry may still find room in a page that another table has got; then it is refused again, until there is room.
  expect(await keep(400)).toEqual(refused)
  rmSync(filler)
  expect(await keep(20)).toBeNull()
  const chain = await platform.call<TaskChain>('GET', '/api/v1/tasks/t/chain')
  const stored = new Map(chain.body.entries.map((entry) => [entry.step, entry.hash]))
  for (const [number, hash] of acknowledged) expect([number, stored.get(number)]).toEqual([number, hash])
  const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/t/verify')
  expect([body.integrity, body.sequence.ok]).toEqual([{ ok: true, first_bad: null }, true])
  // What was not acknowledged may be there or not, but not twice.
  expect(body.entries - acknowledged.size).toBeLessThanOrEqual(1)
  console.log(`${acknowledged.size} acknowledged, all there`)
}

describe('a full disk', () => {
  const disk = smallDisk(256)
  afterAll(() => disk?.remove())
  it.skipIf(disk === null)('under the embedded database loses nothing', async () => {
    if (disk === null) return
    const data_dir = join(disk.folder, 'data')
    mkdirSync(data_dir)
    const platform = await startPlatform({ data_dir, env: { ...fast, SVC_LOG_LEVEL: 'silent' } })
    await survives(platform, disk.folder)
    await discard(platform)
  })

  const server = hasPostgres() ? smallDisk(64) : null
  afterAll(() => server?.remove())
  it.skipIf(server === null)('under a server loses nothing', async () => {
    // A server of its own: one whose tablespace is gone makes no databases for other tests any more.
    const postgres = await startPostgres('-c fsync=off')
    if (server === null || postgres === null) return
    const place = join(server.folder, 'tables')
    mkdirSync(place)
    chmodSync(server.folder, 0o755)
    const { uid, gid } = statSync(postgres.folder)
    chownSync(place, uid, gid)
    const url = postgres.emptyDatabase()
    postgres.psql(url, `create tablespace small location '${place}'`)
    postgres.psql(url.replace(/\/[^/]+$/, '/postgres'), `alter database ${url.split('/').at(-1)} set tablespace small`)
    const platform = await startPlatform({ database_url: url, env: { ...fast, SVC_LOG_LEVEL: 'silent' } })
    await survives(platform, server.folder)
    await discard(platform)
    postgres.psql(url.replace(/\/[^/]+$/, '/postgres'), `drop database ${url.split('/').at(-1)} with (force)`)
    postgres.psql(url.replace(/\/[^/]+$/, '/postgres'), 'drop tablespace small')
    await postgres.remove()
  })
})
