// The job room: scheduled and queued jobs of all rooms, kept in the database by pg-boss.
import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { asOwner, type Boss, bossOf, executorIn } from '../db/boss.js'
import { type Database, type Resources, type Transaction, withUnscopedTransaction } from '../db/db.js'
import type { MetricSource } from '../http/exposition.js'
import { startIntervalWorker } from './interval-worker.js'
import { type Job, type JobData, type JobTimes, queueSettings, type Send, type SendOptions } from './job.js'
import {
  bringForwardUnscoped,
  dueQueuesUnscoped,
  lastStartsUnscoped,
  type QueueState,
  queueStatesUnscoped,
  requeueAllUnscoped,
  waitingUnscoped,
} from './jobs-store.js'
import { queueMetrics } from './metrics.js'
import { createPresence } from './presence.js'
import { lastDue, readSchedule, runId } from './schedule.js'
import { createWorker } from './worker.js'

interface JobParts extends Resources {
  readonly logger: Logger
  readonly jobs: readonly Job[]
}

export interface JobState extends QueueState {
  readonly name: string
  /** Null for a job that only runs when it is sent. */
  readonly schedule: string | null
}

export interface Jobs {
  readonly send: Send
  /** Rejects with UNAVAILABLE. */
  readonly state: () => Promise<JobState[]>
  /** Queues and runs for operators. Rejects with UNAVAILABLE. */
  readonly metrics: MetricSource
  /** False while the database of the jobs is unavailable. */
  readonly isRunning: () => boolean
  /** Fetches no more jobs, and waits for the running ones; those that take too long are aborted and run again later. */
  readonly close: () => Promise<void>
}

export const ordinaryTimes: JobTimes = { poll: 2000, drain: 3000, grace: 1500, unseen: 20_000 }
const maintenanceMs = 60_000
/** The number of the advisory lock; unique to this lock. */
const queueLock = 7_283_004

/** Prepares the queues and starts to run jobs. Rejects with UNAVAILABLE; throws for an invalid schedule. */
export async function openJobs({ db, clock, logger, jobs }: JobParts, times = ordinaryTimes): Promise<Jobs> {
  const boss = bossOf(db)
  const names = jobs.map(({ name }) => name)
  const sendDue = await createScheduler(db, boss, clock, jobs)
  await db.exclusively(queueLock, () => prepareQueues(boss, jobs))
  const process_id = randomUUID()
  const presence = createPresence(db, process_id, times.unseen, () => performance.now())
  // No other process uses an embedded database: what is active was left by a killed one.
  if (db.kind === 'pglite') await withUnscopedTransaction(db, requeueAllUnscoped)
  else {
    await presence.beat()
    await boss.maintain()
  }
  const closing = new AbortController()
  const outage = createOutage(logger)
  const send: Send = async (name, data, options = {}) => {
    const job = jobs.find((one) => one.name === name)
    if (job === undefined) throw new Error(`there is no job \`${name}\``)
    await sendJob(db, boss, job, data, options)
    const wake = () => workers.get(name)?.wake()
    // Before the commit a worker would not find the job.
    if (options.tx === undefined) wake()
    else options.tx.afterCommit(wake)
  }
  const parts = { db, clock, boss, process_id, logger, send, lost: outage.begin, closing: closing.signal, times }
  const workers = new Map(jobs.map((job) => [job.name, createWorker(parts, job)]))
  const poll = async () => {
    if (db.kind !== 'pglite') await presence.beat()
    await sendDue()
    for (const name of await withUnscopedTransaction(db, (tx) => dueQueuesUnscoped(tx, names)))
      workers.get(name)?.wake()
    outage.end()
  }
  const timers = [
    startIntervalWorker(times.poll, poll, outage.begin),
    startIntervalWorker(maintenanceMs, () => boss.maintain(), outage.begin),
  ]
  for (const worker of workers.values()) worker.wake()
  const state = async () => {
    const states = await withUnscopedTransaction(db, (tx) => queueStatesUnscoped(tx, names))
    return jobs.map(({ name, schedule = null }) => ({ name, schedule, ...(states.get(name) ?? unknown) }))
  }
  const close = async () => {
    closing.abort()
    await Promise.all([...timers, ...workers.values()].map((one) => one.close()))
    // Without a database, the others notice by themselves.
    if (db.kind !== 'pglite') await presence.end().catch(() => undefined)
  }
  const metrics = async () => {
    const waiting = await withUnscopedTransaction(db, (tx) => waitingUnscoped(tx, names))
    return queueMetrics(names, waiting, (name) => workers.get(name)?.runs())
  }
  return { send, state, metrics, isRunning: () => !closing.signal.aborted && !outage.isOn(), close }
}

const unknown = {
  waiting: 0,
  active: 0,
  last_started_at: null,
  last_completed_at: null,
  last_failed_at: null,
  last_error: null,
}

/** Creates the queues that are missing, and changes those with other settings. */
async function prepareQueues(boss: Boss, jobs: readonly Job[]): Promise<void> {
  const known = new Map((await boss.getQueues()).map((queue) => [queue.name, queue]))
  for (const job of jobs) {
    const { name } = job
    const settings = queueSettings(job)
    const queue = known.get(name) as Partial<typeof settings> | undefined
    if (queue === undefined) await boss.createQueue(name, { name, ...settings })
    else if (Object.entries(settings).some(([key, value]) => queue[key as keyof typeof settings] !== value))
      await boss.updateQueue(name, { name, ...settings })
  }
}

async function sendJob(db: Database, boss: Boss, job: Job, data: JobData, options: SendOptions): Promise<void> {
  const { tx: given, after_seconds = 0, isUrgent = false } = options
  const priority = isUrgent ? 1 : 0
  const key = job.key?.(data) ?? null
  const store = async (tx: Transaction) => {
    const sent = await boss.send(job.name, data, {
      db: executorIn(tx),
      priority,
      ...(key !== null && { singletonKey: key }),
      ...(after_seconds > 0 && { startAfter: after_seconds }),
    })
    // The same job waits already, perhaps for longer.
    if (sent === null) await bringForwardUnscoped(tx, job.name, key, { after_seconds, priority })
  }
  if (given === undefined) await withUnscopedTransaction(db, store)
  else await asOwner(given, () => store(given))
}

/** Sends the scheduled jobs that are due since its last call. */
async function createScheduler(db: Database, boss: Boss, clock: () => number, jobs: readonly Job[]) {
  const opened = clock()
  const starts = await withUnscopedTransaction(db, lastStartsUnscoped)
  const scheduled = jobs.flatMap(({ name, schedule }) =>
    schedule === undefined ? [] : [{ name, isDue: readSchedule(schedule), seen: starts.get(name) ?? opened }],
  )
  return async () => {
    const now = clock()
    for (const one of scheduled) {
      const due = lastDue(one.isDue, one.seen, now)
      if (due !== null) await boss.send(one.name, {}, { id: runId(one.name, due) })
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
