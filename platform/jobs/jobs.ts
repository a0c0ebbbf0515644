// The job room: scheduled and queued jobs of all rooms, kept in the database.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { type Database, type Resources, withUnscopedTransaction } from '../db/db.js'
import { asOwner } from '../db/sql.js'
import type { MetricSource } from '../http/exposition.js'
import { type IntervalWorker, startIntervalWorker } from './interval-worker.js'
import { type Job, type JobData, type JobTimes, keyOf, retriesOf, type Send, type SendOptions } from './job.js'
import {
  addJobUnscoped,
  claimDueUnscoped,
  dueQueuesUnscoped,
  lastDueUnscoped,
  type QueueState,
  queueStatesUnscoped,
  waitingUnscoped,
} from './jobs-store.js'
import { queueMetrics } from './metrics.js'
import { createPresence } from './presence.js'
import { lastDue, readSchedule } from './schedule.js'
import { createWorker, type Worker } from './worker.js'

interface QueueParts extends Resources {
  readonly logger: Logger
}

interface JobState extends QueueState {
  readonly name: string
  /** Null for a job that only runs when it is sent. */
  readonly schedule: string | null
}

export interface Queue {
  /** Also before the start, for jobs that were added. Inside of a transaction, the job runs after the commit. */
  readonly send: Send
  /** Adds the jobs of a room. */
  readonly add: (jobs: readonly Job[]) => void
  /** Starts to run jobs, when all are added. Rejects with UNAVAILABLE; throws for an invalid schedule. */
  readonly start: () => Promise<void>
  /** Rejects with UNAVAILABLE. */
  readonly state: () => Promise<JobState[]>
  /** Queues and runs for operators. Rejects with UNAVAILABLE. */
  readonly metrics: MetricSource
  /** False before the start, and while the database of the jobs is unavailable. */
  readonly isRunning: () => boolean
  /** Fetches no more jobs, and waits for the running ones; those that take too long are aborted and run again later. */
  readonly close: () => Promise<void>
}

export const ordinaryTimes: JobTimes = { poll: 2000, drain: 3000, grace: 1500, unseen: 20_000 }

/** Opens the queue, so that rooms can send jobs. */
export function openQueue({ db, clock, logger }: QueueParts, times = ordinaryTimes): Queue {
  const jobs = new Map<string, Job>()
  const workers = new Map<string, Worker>()
  const names = () => [...jobs.keys()]
  const process_id = randomUUID()
  const presence = createPresence(db, process_id, times.unseen, () => performance.now())
  const closing = new AbortController()
  const outage = createOutage(logger)
  let timer: IntervalWorker | null = null
  const send: Send = async (name, data, options = {}) => {
    const job = jobs.get(name)
    if (job === undefined) throw new Error(`there is no job \`${name}\``)
    await sendJob({ db, clock }, job, data, options)
    const wake = () => workers.get(name)?.wake()
    // Before the commit a worker would not find the job.
    if (options.tx === undefined) wake()
    else options.tx.afterCommit(wake)
  }
  const start = async () => {
    const sendDue = await createScheduler(db, clock, [...jobs.values()])
    await presence.begin()
    for (const { name, at_start_seconds: after_seconds } of jobs.values())
      if (after_seconds !== undefined) await send(name, {}, { after_seconds })
    const lost = outage.begin
    const parts = { db, clock, logger, times, process_id, random: Math.random, lost, closing: closing.signal }
    for (const job of jobs.values()) workers.set(job.name, createWorker(parts, job))
    const poll = async () => {
      await presence.beat()
      await sendDue()
      for (const name of await withUnscopedTransaction(db, (tx) => dueQueuesUnscoped(tx, names(), clock())))
        workers.get(name)?.wake()
      outage.end()
    }
    timer = startIntervalWorker(times.poll, poll, lost)
    for (const worker of workers.values()) worker.wake()
  }
  const state = async () => {
    const states = await withUnscopedTransaction(db, (tx) => queueStatesUnscoped(tx, names()))
    return [...jobs.values()].map(({ name, schedule = null }) => ({ name, schedule, ...(states.get(name) ?? unknown) }))
  }
  const close = async () => {
    closing.abort()
    await Promise.all([timer?.close(), ...[...workers.values()].map((one) => one.close())])
    // Without a database, the others notice by themselves.
    await presence.end().catch(() => undefined)
  }
  const metrics = async () => {
    const waiting = await withUnscopedTransaction(db, (tx) => waitingUnscoped(tx, names()))
    return queueMetrics(names(), waiting, (name) => workers.get(name)?.runs())
  }
  const isRunning = () => timer !== null && !closing.signal.aborted && !outage.isOn()
  const add = (added: readonly Job[]) => {
    for (const job of added) jobs.set(job.name, job)
  }
  return { send, add, start, state, metrics, isRunning, close }
}

const unknown = {
  waiting: 0,
  active: 0,
  last_started_at: null,
  last_completed_at: null,
  last_failed_at: null,
  last_error: null,
}

async function sendJob({ db, clock }: Resources, job: Job, data: JobData, options: SendOptions): Promise<void> {
  const { after_seconds = 0, isUrgent = false, tx: given } = options
  const run_at = clock() + after_seconds * 1000
  const added = { name: job.name, key: keyOf(job, data), data, retries: retriesOf(job), run_at, isUrgent }
  if (given === undefined) await withUnscopedTransaction(db, (tx) => addJobUnscoped(tx, added))
  else await asOwner(given, () => addJobUnscoped(given, added))
}

/** Sends the scheduled jobs that are due since its last call. */
async function createScheduler(db: Database, clock: () => number, jobs: readonly Job[]) {
  const opened = clock()
  const sent = await withUnscopedTransaction(db, lastDueUnscoped)
  const scheduled = jobs.flatMap((job) =>
    job.schedule === undefined ? [] : [{ job, isDue: readSchedule(job.schedule), seen: sent.get(job.name) ?? opened }],
  )
  return async () => {
    const now = clock()
    for (const one of scheduled) {
      const due = lastDue(one.isDue, one.seen, now)
      if (due !== null)
        await withUnscopedTransaction(db, async (tx) => {
          if (await claimDueUnscoped(tx, one.job.name, due)) await sendJob({ db, clock }, one.job, {}, { tx })
        })
      one.seen = Math.max(one.seen, now)
    }
  }
}

/** Logs the beginning of an outage once. */
function createOutage(logger: Logger) {
  let isOn = false
  return {
    isOn: () => isOn,
    begin: (error: unknown) => {
      if (!isOn) logger.warn({ err: error }, 'no job runs until the database is available')
      isOn = true
    },
    end: () => {
      isOn = false
    },
  }
}
