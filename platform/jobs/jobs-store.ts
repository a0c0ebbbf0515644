// The tables of the queue.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import { utcText } from '../db/sql.js'
import type { JobData } from './job.js'
import type { Owner } from './places.js'

interface NewJob {
  readonly name: string
  /** Null for a job that waits beside others of its name. */
  readonly key: string | null
  readonly data: JobData
  readonly retries: number
  /** ms since 1970. */
  readonly run_at: number
  readonly isUrgent: boolean
}

/**
 * Adds a job, or makes the one with its key that waits start earlier. That one stays locked until the transaction ends, so that its
 * run sees what the transaction writes.
 */
export async function addJobUnscoped(
  tx: Transaction,
  { name, key, data, retries, run_at, isUrgent }: NewJob,
): Promise<void> {
  await tx.query(
    `insert into jobs (name, key, data, retries, is_urgent, run_at) values ($1, $2, $3, $4, $5, $6)
     on conflict (name, key) where started_at is null do update
       set run_at = least(jobs.run_at, excluded.run_at), is_urgent = jobs.is_urgent or excluded.is_urgent
       where jobs.run_at > excluded.run_at or (excluded.is_urgent and not jobs.is_urgent)`,
    [name, key, JSON.stringify(data), retries, isUrgent, isoTime(run_at)],
  )
}

/** The queues among `names` with a job that is due at `now`, ms since 1970. */
export async function dueQueuesUnscoped(tx: Transaction, names: readonly string[], now: number): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `select q.name from unnest($1::text[]) q(name) cross join lateral (
       select from jobs j where j.name = q.name and j.process_id is null and j.run_at <= $2 limit 1) due`,
    [names, isoTime(now)],
  )
  return rows.map(({ name }) => name)
}

export interface FetchedJob {
  readonly id: number
  readonly data: JobData
  /** The number of this run, from 1. */
  readonly attempts: number
}

interface Fetching {
  readonly process_id: string
  /** ms since 1970. */
  readonly now: number
  readonly name: string
  /** True if a job waits for the earlier ones with its key. */
  readonly isSerial: boolean
  /** Jobs to fetch, and the most that may run of one workspace. */
  readonly max: number
  readonly each: number
  readonly owners: readonly Owner[]
}

/**
 * Starts jobs that are due, workspaces in turn: first those with the fewest running jobs of this process, then those whose last
 * turn is the longest ago; within a workspace the urgent ones first, then in the order in which they were sent. Jobs without a
 * workspace have their own turn.
 */
export function fetchInTurnUnscoped(
  tx: Transaction,
  { process_id, now, name, isSerial, max, each, owners }: Fetching,
): Promise<FetchedJob[]> {
  return tx.query<FetchedJob>(
    `with due as (
       select id, coalesce(data->>'org_id', id::text) as owner, row_number() over (
         partition by coalesce(data->>'org_id', id::text) order by is_urgent desc, id) as place
       from jobs j where name = $1 and process_id is null and run_at <= $8 and (not $9 or not exists (
         select from jobs e where e.name = $1 and e.key = j.key and e.id < j.id))),
     next as (
       select j.id from jobs j join due on due.id = j.id
       left join unnest($4::text[], $5::int[], $6::bigint[]) as known(owner, taken, turn) on known.owner = due.owner
       where j.process_id is null and coalesce(known.taken, 0) + due.place <= $3
       order by coalesce(known.taken, 0) + due.place, coalesce(known.turn, 0), j.is_urgent desc, j.id
       limit $2 for update of j skip locked)
     update jobs j set process_id = $7, started_at = $8, attempts = j.attempts + 1
     from next where j.id = next.id returning j.id, j.data, j.attempts`,
    [
      name,
      max,
      each,
      owners.map(({ owner }) => owner),
      owners.map(({ taken }) => taken),
      owners.map(({ turn }) => turn),
      process_id,
      isoTime(now),
      isSerial,
    ],
  )
}

/** A run that this process has begun. */
interface Held {
  readonly process_id: string
  readonly id: number
}

/** Deletes a job that has ended. False, without a change, if another process was given the job. */
export async function endJobUnscoped(tx: Transaction, { process_id, id }: Held): Promise<boolean> {
  const rows = await tx.query('delete from jobs where id = $1 and process_id = $2 returning id', [id, process_id])
  return rows.length > 0
}

/** Lets a job run again; an interrupted run does not count. False, without a change, if another process was given the job. */
export async function repeatJobUnscoped(
  tx: Transaction,
  { process_id, id }: Held,
  { run_at, counts }: { readonly run_at: number; readonly counts: boolean },
): Promise<boolean> {
  const rows = await tx.query(
    `update jobs set process_id = null, run_at = $3, attempts = attempts - $4::int
     where id = $1 and process_id = $2 returning id`,
    [id, process_id, isoTime(run_at), counts ? 0 : 1],
  )
  return rows.length > 0
}

/** Notes that a process is alive. */
export async function beatUnscoped(tx: Transaction, process_id: string): Promise<void> {
  await tx.query(
    'insert into job_processes (id, seen_at) values ($1, now()) on conflict (id) do update set seen_at = now()',
    [process_id],
  )
}

/**
 * Forgets the processes that a condition names, and lets their jobs start again at once. A job whose runs may have ended its process
 * has failed after one run more than it may be repeated.
 */
async function forget(tx: Transaction, condition: string, value: unknown): Promise<void> {
  const rows = await tx.query(`delete from job_processes where ${condition} returning id`, [value])
  if (rows.length === 0) return
  const isLeft = 'process_id is not null and not exists (select from job_processes p where p.id = process_id)'
  await tx.query(`delete from jobs where ${isLeft} and attempts > retries + 1`)
  await tx.query(`update jobs set process_id = null where ${isLeft}`)
}

/** Forgets the processes that have been silent for so many ms. */
export function forgetSilentUnscoped(tx: Transaction, ms: number): Promise<void> {
  return forget(tx, `seen_at < now() - $1 * interval '1 millisecond'`, ms)
}

export function forgetProcessUnscoped(tx: Transaction, process_id: string): Promise<void> {
  return forget(tx, 'id = $1', process_id)
}

/** Forgets every process but this one; only for a database that no other process uses. */
export function forgetOthersUnscoped(tx: Transaction, process_id: string): Promise<void> {
  return forget(tx, 'id <> $1', process_id)
}

/** A run that has ended; times are ms since 1970. */
interface EndedRun {
  readonly name: string
  readonly started_at: number
  readonly ended_at: number
  /** Null for a completed run. */
  readonly error: string | null
}

export async function recordRunUnscoped(tx: Transaction, { name, started_at, ended_at, error }: EndedRun) {
  const [column, more] = error === null ? ['completed_at', ''] : ['failed_at', ', last_error = $4']
  await tx.query(
    `insert into job_runs (name, started_at, ${column}, last_error)
     values ($1, to_timestamp($2 / 1000.0), to_timestamp($3 / 1000.0), $4)
     on conflict (name) do update set started_at = excluded.started_at, ${column} = excluded.${column}${more}`,
    [name, started_at, ended_at, error],
  )
}

/** The minute of its schedule for which each job was sent last, or its last start without one; ms since 1970, by name. */
export async function lastDueUnscoped(tx: Transaction): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; at: number }>(
    'select name, extract(epoch from coalesce(due_at, started_at))::float8 * 1000 as at from job_runs',
  )
  return new Map(rows.map(({ name, at }) => [name, at]))
}

/** Notes that a scheduled job is sent for this minute, ms since 1970. False if a process has sent it already. */
export async function claimDueUnscoped(tx: Transaction, name: string, due: number): Promise<boolean> {
  const rows = await tx.query(
    `insert into job_runs (name, due_at) values ($1, $2) on conflict (name) do update set due_at = excluded.due_at
     where job_runs.due_at is null or job_runs.due_at < excluded.due_at returning name`,
    [name, isoTime(due)],
  )
  return rows.length > 0
}

export interface QueueState {
  readonly waiting: number
  readonly active: number
  readonly last_started_at: string | null
  readonly last_completed_at: string | null
  readonly last_failed_at: string | null
  readonly last_error: string | null
}

/** The state of each queue among `names`. */
export async function queueStatesUnscoped(tx: Transaction, names: readonly string[]): Promise<Map<string, QueueState>> {
  const rows = await tx.query<QueueState & { name: string }>(
    `select q.name, coalesce(j.waiting, 0) as waiting, coalesce(j.active, 0) as active,
       ${utcText('greatest(r.started_at, j.started_at)')} as last_started_at,
       ${utcText('r.completed_at')} as last_completed_at, ${utcText('r.failed_at')} as last_failed_at, r.last_error
     from unnest($1::text[]) q(name) left join job_runs r on r.name = q.name
     left join (
       select name, count(*) filter (where process_id is null)::int as waiting, count(process_id)::int as active,
         max(started_at) filter (where process_id is not null) as started_at
       from jobs group by name) j on j.name = q.name`,
    [names],
  )
  return new Map(rows.map(({ name, ...state }) => [name, state]))
}

/** The maximum number of waiting jobs of a queue that are counted for metrics. */
const maxCounted = 10_000

/** The number of waiting jobs of each queue among `names`, up to `maxCounted`. */
export async function waitingUnscoped(tx: Transaction, names: readonly string[]): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; waiting: number }>(
    `select q.name, w.waiting from unnest($1::text[]) q(name) cross join lateral (
       select count(*)::int as waiting from (
         select from jobs j where j.name = q.name and j.process_id is null limit ${maxCounted}) counted) w`,
    [names],
  )
  return new Map(rows.map(({ name, waiting }) => [name, waiting]))
}
