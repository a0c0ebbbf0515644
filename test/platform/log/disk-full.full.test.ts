// A full disk: steps that cannot be stored are rejected, no acknowledged step is lost, and logging resumes once there is space.
import { chmodSync, chownSync, mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LoggedStep, Problem, TaskChain, Verification } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { fast, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { hasPostgres, startPostgres } from '../../support/server/postgres.js'
import { fill, smallDisk } from '../../support/server/small-disk.js'

/** Logs until the disk is full, frees it, and checks every acknowledged step. */
async function expectNothingLost(platform: TestPlatform, folder: string): Promise<void> {
  const filler = join(folder, 'filler')
  const acknowledged = new Map<number, string>()
  const log = (step: number) =>
    platform.call<LoggedStep & Problem>('POST', '/api/v1/logs', {
      as: 'key',
      body: {
        task_id: 't',
        step,
        step_type: step === 1 ? 'START_NODE' : 'step.model',
        timestamp: '2026-01-05T09:00:00Z',
        input: { text: 'x'.repeat(50_000) },
      },
    })
  await register(platform)
  let step = 1
  const logMany = async (count: number) => {
    for (let tries = 0; tries < count; tries++) {
      const { status, body, headers } = await log(step)
      if (status === 201 || status === 200) acknowledged.set(step++, body.hash)
      else return { status, code: body.code, retry: headers.get('retry-after') }
    }
    return null
  }
  expect(await logMany(20)).toBeNull()
  fill(filler, folder, 1_000_000)
  const rejected = await logMany(400)
  expect(rejected).toEqual({ status: 503, code: 'UNAVAILABLE', retry: '1' })
  expect(step).toBeGreaterThan(20)
  // One more entry may fit into a page that is allocated already; further ones are rejected until there is space.
  expect(await logMany(400)).toEqual(rejected)
  rmSync(filler)
  expect(await logMany(20)).toBeNull()
  const chain = await platform.call<TaskChain>('GET', '/api/v1/tasks/t/chain')
  const stored = new Map(chain.body.entries.map((entry) => [entry.step, entry.hash]))
  for (const [number, hash] of acknowledged) expect([number, stored.get(number)]).toEqual([number, hash])
  const { body } = await platform.call<Verification>('GET', '/api/v1/tasks/t/verify')
  expect([body.integrity, body.sequence.ok]).toEqual([{ ok: true, first_bad: null }, true])
  // A step that was not acknowledged may be stored or not, but not twice.
  expect(body.entries - acknowledged.size).toBeLessThanOrEqual(1)
  console.log(`${acknowledged.size} acknowledged, 0 lost`)
}

describe('a full disk', () => {
  const disk = smallDisk(256)
  afterAll(() => disk?.remove())
  it.skipIf(disk === null)('loses no acknowledged step of the embedded database', async () => {
    if (disk === null) return
    const data_dir = join(disk.folder, 'data')
    mkdirSync(data_dir)
    const platform = await startPlatform({ data_dir, env: { ...fast, SVC_LOG_LEVEL: 'silent' } })
    await expectNothingLost(platform, disk.folder)
    await discard(platform)
  })

  const server = hasPostgres() ? smallDisk(64) : null
  afterAll(() => server?.remove())
  it.skipIf(server === null)('loses no acknowledged step of a server', async () => {
    // A separate server: without its tablespace, it cannot create databases for other tests.
    const postgres = await startPostgres('-c fsync=off')
    if (server === null || postgres === null) return
    const tables = join(server.folder, 'tables')
    mkdirSync(tables)
    chmodSync(server.folder, 0o755)
    const { uid, gid } = statSync(postgres.folder)
    chownSync(tables, uid, gid)
    const url = postgres.emptyDatabase()
    postgres.psql(url, `create tablespace small location '${tables}'`)
    postgres.psql(url.replace(/\/[^/]+$/, '/postgres'), `alter database ${url.split('/').at(-1)} set tablespace small`)
    const platform = await startPlatform({ database_url: url, env: { ...fast, SVC_LOG_LEVEL: 'silent' } })
    await expectNothingLost(platform, server.folder)
    await discard(platform)
    postgres.psql(url.replace(/\/[^/]+$/, '/postgres'), `drop database ${url.split('/').at(-1)} with (force)`)
    postgres.psql(url.replace(/\/[^/]+$/, '/postgres'), 'drop tablespace small')
    await postgres.remove()
  })
})
