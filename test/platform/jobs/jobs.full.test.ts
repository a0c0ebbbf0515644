// Queued and scheduled jobs, on both databases.
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { withTransaction, withUnscopedTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { defineJob, type Job } from '../../../platform/jobs/job.js'
import { gate, type JobRoom, openJobRoom } from '../../support/server/jobs.js'
import { forEachDatabase } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const org_id = `org_${'0'.repeat(32)}`
const scope = scopeOf(org_id, { kind: 'system', id: 'test' })
const base = { timeout_seconds: 60 }

await forEachDatabase('the job room', ({ fresh, kind }) => {
  let room: JobRoom
  beforeAll(async () => {
    room = await openJobRoom(fresh())
  })
  afterAll(() => room.close())
  const until = (check: () => void | Promise<void>) => vi.waitFor(check, soon)

  it('runs a sent job once, with its data', async () => {
    const ran: unknown[] = []
    const job = defineJob<{ repo_id: number }>({ ...base, name: 'once', run: async (data) => void ran.push(data) })
    const jobs = await room.open([job])
    await jobs.send('once', { repo_id: 7 })
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0, last_error: null }]))
    expect(ran).toEqual([{ repo_id: 7 }])
    const [state] = await jobs.state()
    expect(state).toMatchObject({ name: 'once', schedule: null, last_failed_at: null })
    expect(state?.last_completed_at).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/)
    expect(jobs.isRunning()).toBe(true)
    await jobs.close()
    expect(jobs.isRunning()).toBe(false)
  })

  it('rejects a job that is in no list', async () => {
    const jobs = await room.open([])
    await expect(jobs.send('unknown', {})).rejects.toThrow('there is no job `unknown`')
    await jobs.close()
  })

  it('lets one job per key wait, also while another one with the key runs', async () => {
    const ran: string[] = []
    const first = gate()
    const run = async ({ key }: { key: string }) => {
      ran.push(key)
      if (ran.length === 1) await first.passed
    }
    const jobs = await room.open([defineJob({ ...base, name: 'by-key', key: ({ key }) => key, run })])
    await jobs.send('by-key', { key: 'a' })
    await until(() => expect(ran).toEqual(['a']))
    for (const key of ['a', 'b', 'a', 'b', 'a']) await jobs.send('by-key', { key })
    expect(await jobs.state()).toMatchObject([{ waiting: 2, active: 1 }])
    first.open()
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }]))
    expect(ran).toEqual(['a', 'a', 'b'])
    await jobs.close()
  })

  it('starts a delayed job when it is sent again without a delay', async () => {
    const ran: unknown[] = []
    const job = defineJob<{ id: string }>({
      ...base,
      name: 'delayed',
      key: ({ id }) => id,
      run: async (data) => void ran.push(data),
    })
    const jobs = await room.open([job])
    await jobs.send('delayed', { id: 'a' }, { after_seconds: 3600 })
    await jobs.send('delayed', { id: 'b' }, { after_seconds: 3600 })
    await jobs.send('delayed', { id: 'a' })
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 1, active: 0 }]))
    expect(ran).toEqual([{ id: 'a' }])
    await jobs.close()
  })

  it('starts urgent jobs before the others that wait', async () => {
    const ran: string[] = []
    const first = gate()
    const run = async ({ key }: { key: string }) => {
      ran.push(key)
      if (ran.length === 1) await first.passed
    }
    const jobs = await room.open([defineJob({ ...base, name: 'urgent', key: ({ key }) => key, run })])
    await jobs.send('urgent', { key: 'a' })
    await until(() => expect(ran).toEqual(['a']))
    for (const key of ['b', 'c', 'd']) await jobs.send('urgent', { key })
    for (const key of ['e', 'd']) await jobs.send('urgent', { key }, { isUrgent: true })
    first.open()
    await until(() => expect(ran).toEqual(['a', 'd', 'e', 'b', 'c']))
    await jobs.close()
  })

  it('runs serial jobs with the same key in order, also after one that is repeated', async () => {
    const ran: string[] = []
    const first = gate()
    const run = async ({ key, id }: { key: string; id: number }) => {
      ran.push(`${key}${id}`)
      if (ran.length > 1) return
      await first.passed
      throw new Error('the first run')
    }
    const job = { ...base, name: 'serial', concurrency: 4, isSerial: true, retry_delay_seconds: 0.2, run }
    const jobs = await room.open([defineJob({ ...job, key: ({ key }) => key })])
    await jobs.send('serial', { key: 'a', id: 1 })
    await until(() => expect(ran).toEqual(['a1']))
    for (const [key, id] of [
      ['a', 2],
      ['b', 3],
    ] as const)
      await jobs.send('serial', { key, id }, { isUrgent: true })
    await until(() => expect(ran).toEqual(['a1', 'b3']))
    expect(await jobs.state()).toMatchObject([{ waiting: 1, active: 1 }])
    first.open()
    await until(() => expect(ran).toEqual(['a1', 'b3', 'a1', 'a2']))
    await jobs.close()
  })

  it('runs as many at once as the job allows', async () => {
    const all = gate()
    let most = 0
    let now = 0
    const run = async () => {
      most = Math.max(most, ++now)
      await all.passed
      now--
    }
    const jobs = await room.open([{ ...base, name: 'side-by-side', concurrency: 3, run }])
    for (let id = 0; id < 5; id++) await jobs.send('side-by-side', { id })
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 2, active: 3 }]))
    all.open()
    await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }]))
    expect(most).toBe(3)
    await jobs.close()
  })

  describe('a job that is sent in a transaction of an organization', () => {
    const ran: unknown[] = []
    const job: Job = { ...base, name: 'in-transaction', run: async (data) => void ran.push(data) }

    it('runs when the transaction commits, and not when it is rolled back', async () => {
      const jobs = await room.open([job])
      const failing = withTransaction(room.db, scope, async (tx) => {
        await jobs.send('in-transaction', { id: 'rolled back' }, { tx })
        throw new Error('after the job was sent')
      })
      await expect(failing).rejects.toThrow('after the job was sent')
      await withTransaction(room.db, scope, async (tx) => {
        await jobs.send('in-transaction', { id: 'committed' }, { tx })
        expect(await tx.query('select current_user as name')).toEqual([{ name: 'svc_app' }])
      })
      await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }]))
      expect(ran).toEqual([{ id: 'committed' }])
      await jobs.close()
    })

    it('starts with the commit, not with the next look at the queue', async () => {
      const others = gate()
      const run: Job['run'] = async ({ id }) => {
        ran.push(id)
        if (id === 'other') await others.passed
      }
      const jobs = await room.open([{ ...job, concurrency: 2, run }], Date.now, { poll: 3600_000 })
      await withTransaction(room.db, scope, async (tx) => {
        await jobs.send('in-transaction', { id: 'late' }, { tx })
        // The worker has looked at the queue before the commit. The embedded database has one transaction at a time.
        if (kind === 'pglite') return
        await jobs.send('in-transaction', { id: 'other' })
        await until(() => expect(ran).toContain('other'))
      })
      await until(() => expect(ran).toContain('late'))
      others.open()
      await jobs.close()
    })

    it('keeps the waiting one with its key from starting before the commit', async () => {
      // The embedded database has one transaction at a time.
      if (kind === 'pglite') return
      const jobs = await room.open([{ ...job, name: 'waits-for-commit', key: () => 'k' }])
      ran.length = 0
      await jobs.send('waits-for-commit', { id: 'k' }, { after_seconds: 0.3 })
      await withTransaction(room.db, scope, async (tx) => {
        await jobs.send('waits-for-commit', { id: 'k' }, { tx })
        await setTimeout(600)
        expect([ran, await jobs.state()]).toMatchObject([[], [{ waiting: 1, active: 0 }]])
      })
      await until(() => expect(ran).toEqual([{ id: 'k' }]))
      await jobs.close()
    })

    it('is invisible to the role of organizations', async () => {
      for (const table of ['jobs', 'job_runs', 'job_processes'])
        await expect(withTransaction(room.db, scope, (tx) => tx.query(`select * from ${table}`))).rejects.toMatchObject(
          { code: '42501' },
        )
    })
  })

  it('leaves the result of a run to the process that the job was given to meanwhile', async () => {
    const held = gate()
    const jobs = await room.open([{ ...base, name: 'given-away', run: () => held.passed }])
    await jobs.send('given-away', {})
    await until(async () => expect(await jobs.state()).toMatchObject([{ active: 1 }]))
    const give = `with another as (insert into job_processes values ('another', now()) returning id)
      update jobs set process_id = another.id from another where name = 'given-away'`
    await withUnscopedTransaction(room.db, (tx) => tx.query(give))
    held.open()
    await jobs.close()
    const [state] = await jobs.state()
    expect(state).toMatchObject({ active: 1, last_completed_at: null, last_failed_at: null })
  })

  describe('a scheduled job', () => {
    const ran: number[] = []
    let now = Date.parse('2026-03-01T12:00:30Z')
    const clock = () => now
    const job: Job = { ...base, name: 'hourly', schedule: '7 * * * *', run: async () => void ran.push(now) }

    it('runs when it is due, once', async () => {
      const jobs = await room.open([job], clock)
      expect(await jobs.state()).toMatchObject([{ name: 'hourly', schedule: '7 * * * *', waiting: 0 }])
      now = Date.parse('2026-03-01T12:08:00Z')
      await until(async () =>
        expect(await jobs.state()).toMatchObject([{ last_completed_at: '2026-03-01T12:08:00.000Z' }]),
      )
      expect(ran).toEqual([now])
      await jobs.close()
    })

    it('runs soon after a start that follows a missed run, and not after another start', async () => {
      now = Date.parse('2026-03-02T03:00:00Z')
      for (let start = 0; start < 2; start++) {
        const jobs = await room.open([job], clock)
        await until(async () =>
          expect(await jobs.state()).toMatchObject([{ last_completed_at: '2026-03-02T03:00:00.000Z' }]),
        )
        await jobs.close()
      }
      expect(ran.slice(1)).toEqual([now])
    })
  })

  it('sends a job with a time for it at each start', async () => {
    let runs = 0
    const job: Job = { ...base, name: 'at-start', at_start_seconds: 0, run: async () => void runs++ }
    for (const start of [1, 2]) {
      const jobs = await room.open([job])
      await until(() => expect(runs).toBe(start))
      await jobs.close()
    }
  })

  describe('a job that fails', () => {
    it('is reported once, and repeated until it completes', async () => {
      let runs = 0
      const run = async () => {
        if (++runs === 1) throw new Error('failure\n\u001b[31m')
      }
      const jobs = await room.open([{ ...base, name: 'fails-once', retry_delay_seconds: 1, run }])
      await jobs.send('fails-once', {})
      await until(() => expect(runs).toBe(2))
      await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }]))
      const last = await jobs.state()
      expect(last).toMatchObject([{ last_error: 'failure\\n\\u{1b}[31m' }])
      expect([last[0]?.last_completed_at, last[0]?.last_failed_at]).not.toContain(null)
      const lines = room.logged.filter(({ job }) => job === 'fails-once')
      expect(lines.map(({ msg, will_retry }) => [msg, will_retry])).toEqual([['the job `fails-once` failed', true]])
      await jobs.close()
    })

    it('is not repeated more often than it says', async () => {
      const seen: number[] = []
      const run: Job['run'] = (_data, _signal, runs) => {
        seen.push(runs)
        throw new Error('at once')
      }
      const jobs = await room.open([{ ...base, name: 'fails', retries: 1, retry_delay_seconds: 1, run }])
      await jobs.send('fails', {})
      await until(() =>
        expect(room.logged.filter(({ job }) => job === 'fails').at(-1)).toMatchObject({ will_retry: false }),
      )
      await until(async () => expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }]))
      expect(seen).toEqual([1, 2])
      await jobs.close()
    })

    it('has failed when it takes too long, also when it ignores that', async () => {
      const run = () => new Promise<void>(() => undefined)
      const jobs = await room.open([{ name: 'endless', timeout_seconds: 1, retries: 0, run }])
      await jobs.send('endless', {})
      await until(async () => expect(await jobs.state()).toMatchObject([{ last_error: 'it took longer than 1 s' }]))
      expect(await jobs.state()).toMatchObject([{ waiting: 0, active: 0 }])
      await jobs.close()
    })
  })

  describe('closing', () => {
    it('waits for a running job', async () => {
      const [started, end] = [gate(), gate()]
      let completed = false
      const run = async () => {
        started.open()
        await end.passed
        completed = true
      }
      const jobs = await room.open([{ ...base, name: 'running', run }])
      await jobs.send('running', {})
      await started.passed
      const closed = jobs.close()
      end.open()
      await closed
      expect([completed, await jobs.state()]).toMatchObject([true, [{ active: 0, waiting: 0 }]])
    })

    it('aborts a job that takes too long; it runs again at the next start, and has not failed', async () => {
      const started = gate()
      const ends: string[] = []
      const run = (_: object, signal: AbortSignal) =>
        new Promise<void>((resolve, reject) => {
          if (ends.length > 0) return resolve()
          started.open()
          signal.addEventListener('abort', () => {
            ends.push('aborted')
            reject(signal.reason)
          })
        })
      const job: Job = { ...base, name: 'long', run }
      const jobs = await room.open([job])
      await jobs.send('long', {})
      await started.passed
      await jobs.close()
      expect([ends, await jobs.state()]).toMatchObject([['aborted'], [{ waiting: 1, active: 0, last_failed_at: null }]])
      const counted = await withUnscopedTransaction(room.db, (tx) =>
        tx.query(`select attempts from jobs where name = 'long'`),
      )
      expect(counted).toEqual([{ attempts: 0 }])
      const again = await room.open([job])
      await until(async () => expect(await again.state()).toMatchObject([{ waiting: 0, active: 0, last_error: null }]))
      await again.close()
    })
  })
})
