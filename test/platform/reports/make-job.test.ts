// Runs of the job that makes reports, on both databases: what ends them, and what is left.
import type { Report } from '@svc/schemas'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { seedWorkspace } from '../../../platform/access/commands/seed-workspace.js'
import { type Transaction, withTransaction } from '../../../platform/db/db.js'
import { type Scope, scopeOf } from '../../../platform/db/scope.js'
import { PlatformError } from '../../../platform/errors.js'
import { connectLibrary } from '../../../platform/git/commands/connect-library.js'
import { lockLog } from '../../../platform/ledger/log.js'
import { removeReport } from '../../../platform/reports/commands/delete-report.js'
import { type ReadyReport, readParts } from '../../../platform/reports/download.js'
import { partBytes } from '../../../platform/reports/issue.js'
import { type MakeReport, makeReportJob } from '../../../platform/reports/make-job.js'
import { findReport, queueReport } from '../../../platform/reports/store/reports.js'
import type { ReportPlan } from '../../../report/content/plan.js'
import { day, sha256Of } from '../../support/reports/reports.js'
import { gate, type JobRoom, openJobRoom } from '../../support/server/jobs.js'
import { forEachDatabase } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const bytes = Buffer.alloc(2 * partBytes + 5, 'a report ')
const made = { bytes, sha256: sha256Of(bytes) }
const period = { from: day(1), to: day(2) }

await forEachDatabase('a report in the making', ({ fresh }) => {
  let room: JobRoom
  let scope: Scope
  let now = Date.parse(day(3))
  let number = 0
  let plan: ReportPlan
  const logged: string[] = []
  const logger = pino({}, { write: (line: string) => logged.push(line) })
  beforeAll(async () => {
    const config = fresh()
    room = await openJobRoom(config)
    const { org_id } = await seedWorkspace(room.db, config, now, connectLibrary)
    scope = scopeOf(org_id, { kind: 'operator', id: 'test' })
  })
  afterAll(() => room.close())
  const inLog = <T>(work: (tx: Transaction) => Promise<T>) =>
    withTransaction(room.db, scope, async (tx) => {
      await lockLog(scope, tx)
      return work(tx)
    })
  beforeEach(async () => {
    const id = `rep_${String(number++).padStart(32, '0')}`
    plan = { id, format: 'json', period, by: 'received', agent_ids: null, cut_off: 5, root: '0'.repeat(64) }
    await inLog((tx) => queueReport(scope, tx, now, plan, 'operator:test'))
  })
  const jobOf = (make: MakeReport) => makeReportJob({ db: room.db, clock: () => now, logger, make, isMaker: true })
  const run = (make: MakeReport, signal = new AbortController().signal, runs = 1) =>
    jobOf(make).run({ org_id: scope.org_id, report_id: plan.id }, signal, runs)
  const found = () => withTransaction(room.db, scope, (tx) => findReport(scope, tx, plan.id)) as Promise<Report>
  const count = (table: string, where: string) =>
    withTransaction(room.db, scope, async (tx) => {
      const [row] = await tx.query<{ count: number }>(`select count(*)::int as count from ${table} where ${where}`)
      return row?.count
    })
  const parts = () => count('report_parts', `report_id = '${plan.id}'`)
  const leaves = () => count('log_records', `type = 'report' and subject_id = '${plan.id}'`)

  it('is stored in parts, with one leaf, and is made once', async () => {
    await run(async () => made)
    const report = await found()
    expect(report).toMatchObject({
      status: 'ready',
      progress: 1,
      bytes: bytes.length,
      sha256: made.sha256,
      error: null,
    })
    expect([await parts(), await leaves()]).toEqual([3, 1])
    const read: Uint8Array[] = []
    for await (const chunk of readParts(room.db, scope, report as ReadyReport)) read.push(chunk)
    expect(Buffer.concat(read).equals(bytes)).toBe(true)
    await run(async () => Promise.reject(new Error('made again')))
    expect(await found()).toEqual(report)
  })

  it('breaks off a download when it is deleted', async () => {
    await run(async () => made)
    const reading = readParts(room.db, scope, (await found()) as ReadyReport)
    expect((await reading.next()).value?.length).toBe(partBytes)
    await removeReport({ db: room.db, clock: () => now }, scope, plan.id)
    await expect(reading.next()).rejects.toThrow('deleted during the download')
  })

  it('records its progress at most once a second', async () => {
    await run(async (_scope, _plan, { progress }) => {
      for (const [share, ms, shown] of [
        [0.1, 0, 0.1],
        [0.2, 999, 0.1],
        [0.3, 1, 0.3],
        [7, 1000, 1],
      ] as const) {
        now += ms
        await vi.waitFor(async () => {
          // While a write is in progress, further progress is left out.
          progress(share)
          expect((await found()).progress).toBe(shown)
        }, soon)
      }
      return made
    })
    expect((await found()).status).toBe('ready')
  })

  it('is queued again by an interruption, and made again', async () => {
    for (let time = 0; time < 5; time++) {
      const closing = new AbortController()
      const interrupted = run(async (_scope, _plan, { signal }) => {
        closing.abort()
        return Promise.reject(signal.reason)
      }, closing.signal)
      await expect(interrupted).rejects.toThrow('aborted')
      expect(await found()).toMatchObject({ status: 'queued', progress: 0, error: null })
    }
    await run(async () => made)
    expect([(await found()).status, await leaves()]).toEqual(['ready', 1])
  })

  it('is given up after three runs that ended without a result', async () => {
    const outage = new PlatformError('UNAVAILABLE', 'the database is unavailable: retry')
    const { signal } = new AbortController()
    for (const runs of [1, 2, 3]) await expect(run(() => Promise.reject(outage), signal, runs)).rejects.toThrow(outage)
    expect((await found()).status).toBe('running')
    await run(async () => made, signal, 4)
    expect(await found()).toMatchObject({ status: 'failed', error: expect.stringContaining('ended 3 times') })
    // A restart ends a process as a lack of memory does.
    expect((await found()).error).not.toContain('memory')
    await inLog((tx) => queueReport(scope, tx, now, plan, 'operator:other'))
    await run(async () => made)
    expect(await found()).toMatchObject({ status: 'ready', error: null, requested_by: 'operator:other' })
  })

  it.each([
    ['too much', new PlatformError('TOO_LARGE', 'choose a shorter period'), 'choose a shorter period'],
    [
      'an internal error',
      new TypeError('x is not a function'),
      'an internal error, which the log of the platform names',
    ],
  ])('fails for %s, with a reason', async (_, error, reason) => {
    await run(() => Promise.reject(error))
    expect(await found()).toMatchObject({ status: 'failed', error: expect.stringContaining(reason), bytes: null })
    expect([await parts(), await leaves()]).toEqual([0, 0])
    expect(logged.some((line) => line.includes(plan.id))).toBe(error instanceof TypeError)
  })

  it('fails when it takes too long', async () => {
    const time = new AbortController()
    await run(async (_scope, _plan, { signal }) => {
      time.abort(new Error('it took longer than 1800 s'))
      return Promise.reject(signal.reason)
    }, time.signal)
    expect(await found()).toMatchObject({ status: 'failed', error: expect.stringContaining('longer than 30 minutes') })
  })

  it('stops when it is deleted', async () => {
    await run(async (_scope, _plan, { signal, progress }) => {
      await removeReport({ db: room.db, clock: () => now }, scope, plan.id)
      const stopped = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
      progress(0.5)
      return stopped
    })
    expect([await found(), await parts(), await leaves()]).toEqual([null, 0, 0])
  })

  it('has one leaf when two processes make it at once, and the later one stores it', async () => {
    const begun = gate()
    const over = gate()
    const first = run(async () => {
      begun.open()
      await over.passed
      return { bytes: Buffer.from('earlier'), sha256: sha256Of(Buffer.from('earlier')) }
    })
    await begun.passed
    await run(async () => made)
    over.open()
    await first
    expect([await parts(), await leaves(), (await found()).sha256]).toEqual([3, 1, made.sha256])
  })

  it('is made by the queue, also when the process stopped during the first run', async () => {
    const begun = gate()
    const hanging = await room.open([
      jobOf(async (_scope, _plan, { signal }) => {
        begun.open()
        return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }),
    ])
    await hanging.send('make-report', { org_id: scope.org_id, report_id: plan.id })
    await begun.passed
    await hanging.close()
    await room.open([jobOf(async () => made)])
    await vi.waitFor(async () => expect((await found()).status).toBe('ready'), soon)
    expect(await leaves()).toBe(1)
  })
})
