// Jobs beside other processes, after a crash, and during an outage of the database.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import { afterAll, describe, expect, it, vi } from 'vitest'
import type { Job } from '../../../platform/jobs/job.js'
import { startJobProcess } from '../../support/server/job-process.js'
import { gate, openJobRoom } from '../../support/server/jobs.js'
import { hasPostgres, sharedPostgres, startPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const until = (check: () => void | Promise<void>) => vi.waitFor(check, soon)
const folder = mkdtempSync(join(tmpdir(), 'svc-jobs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const base = { timeout_seconds: 60 }

describe.skipIf(postgres === null)('two processes on a server', () => {
  it('share a queue and run each job once', async () => {
    const env = { SVC_DATABASE_URL: postgres?.freshDatabase() ?? '', SVC_DATA_DIR: folder }
    const processes = await Promise.all([1, 2].map(() => startJobProcess(env, 'shared', false)))
    const ids = Array.from({ length: 200 }, (_, id) => String(id))
    for (const [index, made] of processes.entries()) made.send(ids.filter((_, id) => id % 2 === index))
    const ran = () => processes.flatMap((made) => made.ran())
    await until(() => expect(new Set(ran()).size).toBe(ids.length))
    expect(ran().toSorted()).toEqual(ids.toSorted())
    for (const made of processes) await made.kill9()
  })

  it('send a scheduled job once', async () => {
    const config = readConfig({ SVC_DATABASE_URL: postgres?.freshDatabase() ?? '', SVC_DATA_DIR: folder }).value
    let now = Date.parse('2026-03-01T12:00:30Z')
    const ran: number[] = []
    const job: Job = { ...base, name: 'hourly', schedule: '7 * * * *', run: async () => void ran.push(now) }
    const marker: Job = { ...base, name: 'marker', schedule: '8 * * * *', run: async () => undefined }
    const rooms = await Promise.all([openJobRoom(config), openJobRoom(config)])
    const opened = await Promise.all(rooms.map((room) => room.open([job, marker], () => now)))
    now = Date.parse('2026-03-01T12:07:00Z')
    await until(() => expect(ran).toEqual([now]))
    // The run ends after it has noted its time.
    await until(async () => {
      for (const jobs of opened) expect((await jobs.state()).at(0)?.last_completed_at).toBe('2026-03-01T12:07:00.000Z')
    })
    now = Date.parse('2026-03-01T12:08:00Z')
    await until(async () => {
      for (const jobs of opened)
        expect((await jobs.state()).map(({ last_completed_at, waiting }) => [last_completed_at, waiting])).toEqual([
          ['2026-03-01T12:07:00.000Z', 0],
          ['2026-03-01T12:08:00.000Z', 0],
        ])
    })
    expect(ran.length).toBe(1)
    for (const room of rooms) await room.close()
  })
})

describe.each([
  { kind: 'pglite', env: () => ({ SVC_DATA_DIR: join(folder, 'killed') }) },
  ...(postgres === null
    ? []
    : [{ kind: 'postgresql', env: () => ({ SVC_DATABASE_URL: postgres.freshDatabase(), SVC_DATA_DIR: folder }) }]),
])('a job that a killed process left on $kind', ({ env: make }) => {
  it('runs again', async () => {
    const env: Record<string, string> = make()
    const killed = await startJobProcess(env, 'left', true)
    killed.send(['a'])
    await until(() => expect(killed.ran()).toEqual(['a']))
    await killed.kill9()
    const room = await openJobRoom(readConfig(env).value)
    const ran: unknown[] = []
    const jobs = await room.open([{ ...base, name: 'left', run: async (data) => void ran.push(data) }])
    await until(() => expect(ran).toEqual([{ id: 'a' }]))
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0, last_failed_at: null }]))
    await room.close()
  })
})

describe('a job that ends its process each time', () => {
  it('has failed after it was repeated as often as it may be', async () => {
    const env = { SVC_DATA_DIR: join(folder, 'crashing') }
    const ran: string[] = []
    // The first run, three repetitions, and one more because a crash of another job could have ended the process.
    for (let start = 0; start < 5; start++) {
      const killed = await startJobProcess(env, 'crashes', true)
      if (start === 0) killed.send(['a'])
      await until(() => expect(killed.ran()).toEqual(['a']))
      ran.push(...killed.ran())
      await killed.kill9()
    }
    const room = await openJobRoom(readConfig(env).value)
    const jobs = await room.open([{ ...base, name: 'crashes', run: async () => void ran.push('again') }])
    expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }])
    expect(ran.length).toBe(5)
    await room.close()
  })
})

describe.skipIf(!hasPostgres())('during an outage of the database', () => {
  it.each(['fast', 'immediate'] as const)('(stopped %s) jobs wait, and run when it is back', async (mode) => {
    const server = await startPostgres('-c fsync=off')
    if (server === null) throw new Error('no server')
    const config = readConfig({ SVC_DATABASE_URL: server.emptyDatabase(), SVC_DATA_DIR: folder }).value
    const room = await openJobRoom(config)
    const ran: unknown[] = []
    const held = gate()
    const jobs = await room.open([
      { ...base, name: 'waits', run: async (data) => void ran.push(data) },
      { ...base, name: 'ends-during-it', run: () => held.passed },
    ])
    await jobs.send('ends-during-it', {})
    await until(async () => expect(await jobs.state()).toMatchObject([{}, { active: 1 }]))
    server.stop(mode)
    await until(() => expect(jobs.isRunning()).toBe(false))
    held.open()
    await expect(jobs.send('waits', { id: 1 })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    server.start()
    await until(() => expect(jobs.isRunning()).toBe(true))
    await jobs.send('waits', { id: 2 })
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }, { active: 0 }]))
    expect(ran).toEqual([{ id: 2 }])
    const lines = room.logged.map(({ msg }) => msg)
    expect(lines.filter((line) => line === 'no job runs until the database is available').length).toBe(1)
    await room.close()
    await server.remove()
  })
})
