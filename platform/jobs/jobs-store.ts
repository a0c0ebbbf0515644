// What the job room reads and writes beside pg-boss, in the same tables.
import type { Transaction } from '../db/db.js'
import { utcText } from '../db/sql.js'
import type { JobData } from './job.js'
import type { Owner } from './places.js'

/** The queues among `names` with a job that can start now. */
export async function dueQueuesUnscoped(tx: Transaction, names: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ name: string }>(
    `select q.name from unnest($1::text[]) q(name) cross join lateral (
       select from svc_jobs.job j where j.name = q.name and j.state < 'active' and j.start_after < now() limit 1) due`,
    [names],
  )
  return rows.map(({ name }) => name)
}

/** Makes a waiting job start earlier, when the same job was sent again with a shorter delay or a higher priority. */
export async function bringForwardUnscoped(
  tx: Transaction,
  name: string,
  key: string | null,
  { after_seconds, priority }: { readonly after_seconds: number; readonly priority: number },
): Promise<void> {
  await tx.query(
    `update svc_jobs.job set start_after = least(start_after, now() + $3 * interval '1 second'), priority = greatest(priority, $4)
     where name = $1 and state = 'created' and singleton_key is not distinct from $2
       and (start_after > now() + $3 * interval '1 second' or priority < $4)`,
    [name, key, after_seconds, priority],
  )
}

/** Says that a process is alive. */
export async function beatUnscoped(tx: Transaction, process_id: string): Promise<void> {
  await tx.query(
    'insert into svc_jobs.processes (id, seen_at) values ($1, now()) on conflict (id) do update set seen_at = now()',
    [process_id],
  )
}

export async function forgetProcessUnscoped(tx: Transaction, process_id: string): Promise<void> {
  await tx.query('delete from svc_jobs.processes where id = $1', [process_id])
}

export interface FetchedJob {
  readonly id: string
  readonly data: JobData | null
  readonly retry_count: number
}

interface Fetching {
  readonly process_id: string
  readonly name: string
  /** Jobs to fetch, and the most that may run of one workspace. */
  readonly max: number
  readonly each: number
  readonly owners: readonly Owner[]
}

/**
 * Starts jobs that are due, workspaces in turn: first those with the fewest running jobs of this process, then those whose last
 * turn is the longest ago; within a workspace as pg-boss orders jobs. Jobs without a workspace have their own turn. The column of
 * the result holds the process until then.
 */
export function fetchInTurnUnscoped(
  tx: Transaction,
  { process_id, name, max, each, owners }: Fetching,
): Promise<FetchedJob[]> {
  return tx.query<FetchedJob>(
    `with due as (
       select id, coalesce(data->>'org_id', id::text) as owner, row_number() over (
         partition by coalesce(data->>'org_id', id::text) order by priority desc, created_on, id) as place
       from svc_jobs.job where name = $1 and state < 'active' and start_after < now()),
     next as (
       select j.id from svc_jobs.job j join due on due.id = j.id
       left join unnest($4::text[], $5::int[], $6::bigint[]) as known(owner, taken, turn) on known.owner = due.owner
       where j.name = $1 and j.state < 'active' and coalesce(known.taken, 0) + due.place <= $3
       order by coalesce(known.taken, 0) + due.place, coalesce(known.turn, 0), j.priority desc, j.created_on, j.id
       limit $2 for update of j skip locked)
     update svc_jobs.job j set state = 'active', started_on = now(), output = jsonb_build_object('process', $7::text),
       retry_count = j.retry_count + case when j.started_on is null then 0 else 1 end
     from next where j.name = $1 and j.id = next.id returning j.id, j.data, j.retry_count`,
    [
      name,
      max,
      each,
      owners.map(({ owner }) => owner),
      owners.map(({ taken }) => taken),
      owners.map(({ turn }) => turn),
      process_id,
    ],
  )
}

/** Whether the process still runs the job: false once it was given to another one. The row stays locked. */
export async function isHeldUnscoped(tx: Transaction, process_id: string, name: string, id: string): Promise<boolean> {
  const rows = await tx.query(
    `select 1 from svc_jobs.job where name = $2 and id = $3 and state = 'active' and output->>'process' = $1 for update`,
    [process_id, name, id],
  )
  return rows.length > 0
}

/** Lets the runs of processes start again that were not seen alive for so many ms; returns the number of these processes. */
export async function requeueLostUnscoped(tx: Transaction, ms: number): Promise<number> {
  const rows = await tx.query<{ id: string }>(
    `delete from svc_jobs.processes where seen_at < now() - $1 * interval '1 millisecond' returning id`,
    [ms],
  )
  const ids = rows.map(({ id }) => id)
  if (ids.length > 0) await tx.query(`${requeueKilled} and output->>'process' = any($1::text[])`, [ids])
  return ids.length
}

/** Lets runs that were interrupted start again at once. pg-boss counts a job with a start as repeated. */
export async function requeueUnscoped(tx: Transaction, name: string, ids: readonly string[]): Promise<void> {
  await tx.query(
    `update svc_jobs.job set state = 'retry', start_after = now(), started_on = null
     where name = $1 and id = any($2::uuid[]) and state = 'active'`,
    [name, ids],
  )
}

/**
 * Lets the runs of a killed process start again; only for a database that no other process uses. A job whose runs may have
 * ended the process has failed after one run more than it may be repeated.
 */
export async function requeueAllUnscoped(tx: Transaction): Promise<void> {
  await tx.query(requeueKilled)
}

const requeueKilled = `update svc_jobs.job set start_after = now(),
  state = case when retry_count <= retry_limit then 'retry' else 'failed' end::svc_jobs.job_state,
  completed_on = case when retry_count <= retry_limit then null else now() end
  where state = 'active'`

/** A run that has ended; times are ms since 1970. */
export interface EndedRun {
  readonly name: string
  readonly started_at: number
  readonly ended_at: number
  /** Null for a completed run. */
  readonly error: string | null
}

export async function recordRunUnscoped(tx: Transaction, { name, started_at, ended_at, error }: EndedRun) {
  const [column, more] = error === null ? ['completed_at', ''] : ['failed_at', ', last_error = $4']
  await tx.query(
    `insert into svc_jobs.last_runs (name, started_at, ${column}, last_error)
     values ($1, to_timestamp($2 / 1000.0), to_timestamp($3 / 1000.0), $4)
     on conflict (name) do update set started_at = excluded.started_at, ${column} = excluded.${column}${more}`,
    [name, started_at, ended_at, error],
  )
}

/** The start of the last run that has ended, by name; ms since 1970. */
export async function lastStartsUnscoped(tx: Transaction): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; at: number }>(
    'select name, extract(epoch from started_at)::float8 * 1000 as at from svc_jobs.last_runs',
  )
  return new Map(rows.map(({ name, at }) => [name, at]))
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
       ${utcText('greatest(r.started_at, j.started_on)')} as last_started_at,
       ${utcText('r.completed_at')} as last_completed_at, ${utcText('r.failed_at')} as last_failed_at, r.last_error
     from unnest($1::text[]) q(name) left join svc_jobs.last_runs r on r.name = q.name
     left join (
       select name, count(*) filter (where state < 'active')::int as waiting,
         count(*) filter (where state = 'active')::int as active, max(started_on) filter (where state = 'active') as started_on
       from svc_jobs.job where state < 'completed' group by name) j on j.name = q.name`,
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
         select from svc_jobs.job j where j.name = q.name and j.state < 'active' limit ${maxCounted}) counted) w`,
    [names],
  )
  return new Map(rows.map(({ name, waiting }) => [name, waiting]))
}
