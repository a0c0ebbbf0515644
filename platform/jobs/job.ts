// A job is data: a room lists its jobs, and the composition root adds them to the queue.
import type { Transaction } from '../db/db.js'

/** The ids that a job works on. The rows of queues belong to no organization: they hold nothing else. */
export type JobData = Readonly<Record<string, string | number>>

export interface Job<Data extends JobData = JobData> {
  /** Unique, in kebab-case; its queue has the same name. */
  readonly name: string
  /** When it runs by itself, without data: five fields of cron, in UTC, such as `7 * * * *`. */
  readonly schedule?: string
  /** It is also sent at each start of a process, without data, for so many seconds later. */
  readonly at_start_seconds?: number
  /** Of the jobs with the same key one waits; a job that runs is not waiting. Without a key, every sent job runs. */
  readonly key?: (data: Data) => string
  /** True if jobs with the same key run one after the other, by all processes, in the order in which they were sent. */
  readonly isSerial?: boolean
  /** The maximum of concurrent runs in one process; 1 by default. With 0, this process sends the job and others run it. */
  readonly concurrency?: number
  /** The time after which `signal` is aborted and the run has failed, up to 23 hours. */
  readonly timeout_seconds: number
  /** The repetitions of a failed run: 3 by default, none for a scheduled job. */
  readonly retries?: number
  /** The delay before the first repetition, up to twice that; the next ones are twice as long each. 5 by default. */
  readonly retry_delay_seconds?: number
  /**
   * At least once for each sent job: it can run again after a crash. A rejection is a failed run. `signal` is aborted when the
   * time is up or the process stops; a run that does not end then is given up and can overlap with its repetition. `runs` have
   * begun, with this one: the others failed, or ended with their processes.
   */
  readonly run: (data: Data, signal: AbortSignal, runs: number) => Promise<void>
}

export interface SendOptions {
  readonly after_seconds?: number
  /** Starts before the waiting jobs of the queue that are not urgent. */
  readonly isUrgent?: boolean
  /** The job exists when this transaction commits. */
  readonly tx?: Transaction
}

/** Sends a job by its name. Rejects with UNAVAILABLE. */
export type Send = (name: string, data: JobData, options?: SendOptions) => Promise<void>

/** A job whose data has a type: what `key` and `run` receive is what the senders of this name give. */
export function defineJob<Data extends JobData = JobData>(job: Job<Data>): Job {
  return job as unknown as Job
}

/** The times of the job room, ms. */
export interface JobTimes {
  /** The maximum delay of a job that another process sent, or of one that was sent for later. Others start at once. */
  readonly poll: number
  /** The maximum wait of a stopping process for its jobs; then it aborts them. */
  readonly drain: number
  /** The maximum wait for a run that ignores its aborted signal. */
  readonly grace: number
  /** The time without a sign of a process after which others run its jobs. */
  readonly unseen: number
}

export function retriesOf({ retries, schedule }: Job): number {
  return retries ?? (schedule === undefined ? 3 : 0)
}

/** One job per key waits; those of a schedule have one key. */
export function keyOf({ key, schedule }: Job, data: JobData): string | null {
  return key?.(data) ?? (schedule === undefined ? null : '')
}

const maxRetrySeconds = 3600

/** The delay before the repetition that follows so many runs; `random`, from 0 to before 1, spreads those of jobs that fail together. */
export function retrySeconds({ retry_delay_seconds = 5 }: Job, runs: number, random: number): number {
  return Math.min(maxRetrySeconds, retry_delay_seconds * 2 ** (runs - 1)) * (1 + random)
}
