// Runs the jobs of one queue, workspaces in turn.
import { setTimeout as delay } from 'node:timers/promises'
import { onOneLine } from '@svc/engine/parts'
import type { Logger } from 'pino'
import { type Resources, withUnscopedTransaction } from '../db/db.js'
import { type Job, type JobTimes, retriesOf, retrySeconds } from './job.js'
import {
  endJobUnscoped,
  type FetchedJob,
  fetchInTurnUnscoped,
  recordRunUnscoped,
  repeatJobUnscoped,
} from './jobs-store.js'
import { createPlaces } from './places.js'

interface WorkerParts extends Resources {
  /** The id of this process. */
  readonly process_id: string
  readonly logger: Logger
  /** From 0 to before 1. */
  readonly random: () => number
  /** Receives errors of the database. */
  readonly lost: (error: unknown) => void
  /** Aborted when the process stops: no job is fetched any more. */
  readonly closing: AbortSignal
  readonly times: JobTimes
}

export interface Worker {
  /** Fetches jobs if fewer run than may. */
  readonly wake: () => void
  /** The runs of this process. */
  readonly runs: () => Runs
  /** After `closing`: waits for the running jobs, and aborts those that take too long. */
  readonly close: () => Promise<void>
}

export interface Runs {
  readonly active: number
  readonly completed: number
  readonly failed: number
}

interface Running {
  readonly stop: AbortController
  readonly ended: Promise<void>
}

export function createWorker(parts: WorkerParts, job: Job): Worker {
  const { closing, lost, times } = parts
  const running = new Map<number, Running>()
  const ended = { completed: 0, failed: 0, interrupted: 0 }
  const concurrency = job.concurrency ?? 1
  let fetching: Promise<void> | null = null
  let isWanted = false
  // A workspace has half of the places, so that hosts of its own do not hold up the others.
  const each = Math.max(1, Math.floor(concurrency / 2))
  const places = createPlaces(concurrency, each)
  const canFetch = () => isWanted && !closing.aborted && places.free() > 0
  const start = (fetched: FetchedJob) => {
    const stop = new AbortController()
    const leave = places.enter(String(fetched.data.org_id ?? fetched.id))
    const run = runJob(parts, job, fetched, stop).then((result) => {
      ended[result] += 1
      running.delete(fetched.id)
      leave?.()
      wake()
    })
    running.set(fetched.id, { stop, ended: run })
  }
  const fetchAll = async () => {
    while (canFetch()) {
      isWanted = false
      const max = places.free()
      const { process_id, clock } = parts
      const { name, isSerial = false } = job
      const wanted = { process_id, now: clock(), name, isSerial, max, each, owners: places.owners() }
      const jobs = await withUnscopedTransaction(parts.db, (tx) => fetchInTurnUnscoped(tx, wanted))
      for (const fetched of jobs) start(fetched)
      isWanted ||= jobs.length === max
    }
  }
  const wake = () => {
    isWanted = true
    fetching ??= fetchAll()
      .catch(lost)
      .finally(() => {
        fetching = null
        if (canFetch()) wake()
      })
  }
  const close = async () => {
    await fetching
    const abort = () => {
      for (const { stop } of running.values()) stop.abort(closing.reason)
    }
    const timer = setTimeout(abort, times.drain)
    await Promise.all([...running.values()].map(({ ended }) => ended))
    clearTimeout(timer)
  }
  const runs = () => ({ active: running.size, completed: ended.completed, failed: ended.failed })
  return { wake, runs, close }
}

type Result = 'completed' | 'failed' | 'interrupted'

/** Never rejects. */
async function runJob(parts: WorkerParts, job: Job, fetched: FetchedJob, stop: AbortController): Promise<Result> {
  const { clock, logger, closing, lost, times } = parts
  const started_at = clock()
  const failure = await failureOf(parts, job, fetched, stop)
  const isInterrupted = failure !== null && stop.signal.reason === closing.reason && closing.aborted
  if (failure !== null && !isInterrupted) {
    const will_retry = isRepeated(job, fetched)
    logger.error({ job: job.name, err: failure, will_retry }, `the job \`${job.name}\` failed`)
  }
  const outcome = { started_at, failure, isInterrupted }
  const result = failure === null ? 'completed' : isInterrupted ? 'interrupted' : 'failed'
  for (;;) {
    try {
      await settle(parts, job, fetched, outcome)
      return result
    } catch (error) {
      lost(error)
      // Without the result of the run, the job runs again.
      if (closing.aborted) return 'interrupted'
      await delay(times.poll, undefined, { signal: closing }).catch(() => undefined)
    }
  }
}

/** Why a run failed; null for a completed one. */
async function failureOf(parts: WorkerParts, job: Job, fetched: FetchedJob, stop: AbortController): Promise<unknown> {
  const { times } = parts
  const { signal } = stop
  const tooLong = () => stop.abort(new Error(`it took longer than ${job.timeout_seconds} s`))
  const timers = [setTimeout(tooLong, job.timeout_seconds * 1000)]
  const abandoned = new Promise<never>((_, reject) => {
    const wait = () => timers.push(setTimeout(() => reject(signal.reason), times.grace))
    signal.addEventListener('abort', wait, { once: true })
  })
  try {
    await Promise.race([run(job, fetched, signal), abandoned])
    return null
  } catch (error) {
    return signal.aborted ? signal.reason : (error ?? new Error('it failed without a reason'))
  } finally {
    for (const timer of timers) clearTimeout(timer)
  }
}

/** A promise even for a function that throws at once. */
async function run(job: Job, { data, attempts }: FetchedJob, signal: AbortSignal): Promise<void> {
  await job.run(data, signal, attempts)
}

interface Outcome {
  /** ms since 1970. */
  readonly started_at: number
  readonly failure: unknown
  readonly isInterrupted: boolean
}

function isRepeated(job: Job, { attempts }: FetchedJob): boolean {
  return attempts <= retriesOf(job)
}

/**
 * Stores the result of a run: completed, failed, or interrupted by the end of the process; none when the job was given to another
 * process in the meantime. Rejects with UNAVAILABLE.
 */
function settle(parts: WorkerParts, job: Job, fetched: FetchedJob, outcome: Outcome): Promise<void> {
  const { db, clock, random, process_id } = parts
  const { started_at, failure, isInterrupted } = outcome
  const held = { process_id, id: fetched.id }
  return withUnscopedTransaction(db, async (tx) => {
    if (isInterrupted) return void (await repeatJobUnscoped(tx, held, { run_at: clock(), counts: false }))
    const again = { run_at: clock() + 1000 * retrySeconds(job, fetched.attempts, random()), counts: true }
    const isOwn =
      failure !== null && isRepeated(job, fetched)
        ? await repeatJobUnscoped(tx, held, again)
        : await endJobUnscoped(tx, held)
    const error = failure === null ? null : textOf(failure)
    if (isOwn) await recordRunUnscoped(tx, { name: job.name, started_at, ended_at: clock(), error })
  })
}

/** The maximum length of a stored message of an error. */
const maxErrorLength = 500

function textOf(failure: unknown): string {
  const text = failure instanceof Error ? failure.message : String(failure)
  return onOneLine(text.slice(0, maxErrorLength))
}
