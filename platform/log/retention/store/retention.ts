// The retention period and the deletion of older entries; their leaf hashes stay.
import { type IndexSpan, minRetentionDays } from '@svc/proof'
import type { Prune } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { insertRows, utc } from '../../../db/sql.js'
import { heldTasks } from './holds.js'

/** The retention period of the log. */
export async function retentionDays(scope: Scope, tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ retention_days: number }>('select retention_days from org_log where org_id = $1', [
    scope.org_id,
  ])
  // The database may hold any number; the law sets a minimum.
  return Math.max(minRetentionDays, row?.retention_days ?? minRetentionDays)
}

export async function setRetentionDays(scope: Scope, tx: Transaction, days: number): Promise<void> {
  await tx.query('update org_log set retention_days = $2 where org_id = $1', [scope.org_id, days])
}

/**
 * The log indexes below `end` that may be deleted: whole tasks without a later entry, and leaves that are not steps, except
 * removal authorizations, restarts, facts of agents, open incidents, and held tasks with the events of their holds.
 */
export async function prunableSpans(scope: Scope, tx: Transaction, end: number): Promise<IndexSpan[]> {
  const { all, tasks } = await heldTasks(scope, tx)
  if (all) return []
  const rows = await tx.query<{ first: number; last: number }>(
    `with prunable as (
       select e.log_index from log_entries e join task_heads h on h.org_id = e.org_id and h.task_id = e.task_id
         where e.org_id = $1 and e.log_index < $2 and h.last_log_index < $2 and not e.task_id = any($3::text[])
       union all
       select r.log_index from log_records r
         left join events v on r.type = 'event' and v.org_id = r.org_id and v.id = r.subject_id
         left join incidents i on i.org_id = r.org_id and i.id = case when r.type = 'incident' then r.subject_id
           when v.subject_kind = 'incident' then v.subject_id end
         where r.org_id = $1 and r.log_index < $2 and r.type in ('event', 'incident')
           and (i.id is null or i.state in ('resolved', 'ignored')) and (i.task_id is null or not i.task_id = any($3::text[]))
           and v.kind is distinct from 'log.restarted'
           and (v.subject_kind = 'agent' and v.data ? 'facts') is not true
           and (v.subject_kind = 'task' and v.subject_id = any($3::text[])) is not true
           and not exists (select 1 from holds h where h.org_id = r.org_id and v.subject_kind = 'hold' and h.id = v.subject_id
             and h.released_at is null)
     ), islands as (select log_index, log_index - row_number() over (order by log_index) as island from prunable)
     select min(log_index)::bigint as first, max(log_index)::bigint as last from islands group by island order by 1`,
    [scope.org_id, end, tasks],
  )
  return rows.map(({ first, last }) => [first, last] as const)
}

const inRanges = `using unnest($2::bigint[], $3::bigint[]) as r(first, last)
  where x.org_id = $1 and x.log_index between r.first and r.last`

/** Deletes everything but the leaf hashes of these log indexes, and the incidents and events that no other leaf records. */
export async function deleteSpans(scope: Scope, tx: Transaction, spans: readonly IndexSpan[]): Promise<void> {
  const ranges = [scope.org_id, spans.map(([first]) => first), spans.map(([, last]) => last)]
  await tx.query(
    `delete from task_heads h using log_entries x, unnest($2::bigint[], $3::bigint[]) as r(first, last)
     where x.org_id = $1 and x.log_index between r.first and r.last and h.org_id = x.org_id and h.task_id = x.task_id`,
    ranges,
  )
  for (const table of [
    'log_entries',
    'log_payloads',
    'log_violations',
    'subject_places',
    'step_origins',
    'approved_steps',
    'trace_reports',
    'memory_reads',
  ])
    await tx.query(`delete from ${table} x ${inRanges}`, ranges)
  const deleted = await tx.query<{ type: string; subject_id: string }>(
    `delete from log_records x ${inRanges} returning x.type, x.subject_id`,
    ranges,
  )
  const subjectsOf = (type: string) => [
    scope.org_id,
    deleted.filter((leaf) => leaf.type === type).map((leaf) => leaf.subject_id),
  ]
  const isUnrecorded = (row: string) =>
    `${row}.org_id = $1 and ${row}.id = any($2::text[])
     and not exists (select 1 from log_records r where r.org_id = ${row}.org_id and r.subject_id = ${row}.id)`
  await tx.query(
    `delete from incidents i where i.state in ('resolved', 'ignored') and ${isUnrecorded('i')}`,
    subjectsOf('incident'),
  )
  // Only the owner of the table may delete events, and only while `app.pruning` is on.
  await tx.query("set local role none; select set_config('app.pruning', 'on', true)")
  await tx.query(`delete from events v where ${isUnrecorded('v')}`, subjectsOf('event'))
  await tx.query("select set_config('app.pruning', 'off', true); set local role svc_app")
}

/** Deletes what is known of spans beside the log that was last seen before this time; nothing while the whole log is held. */
export async function forgetSpans(scope: Scope, tx: Transaction, before: string): Promise<void> {
  if ((await heldTasks(scope, tx)).all) return
  await tx.query('delete from unmapped_spans where org_id = $1 and last_seen < $2', [scope.org_id, before])
  await tx.query('delete from trace_tasks where org_id = $1 and noted_at < $2', [scope.org_id, before])
}

const types = {
  org_id: 'text',
  id: 'text',
  before: 'timestamptz',
  entries: 'bigint',
  archive: 'text',
  archive_sha256: 'text',
  pruned_by: 'text',
  pruned_at: 'timestamptz',
  legal_basis: 'text',
} as const
const columns = `id, ${utc('before')}, entries, archive, archive_sha256, pruned_by, ${utc('pruned_at')}, legal_basis`

export async function insertPrune(scope: Scope, tx: Transaction, prune: Prune): Promise<void> {
  const { id, before, entries, archive, archive_sha256, pruned_by, pruned_at, legal_basis } = prune
  await tx.query(
    insertRows('prunes', types),
    [scope.org_id, id, before, entries, archive, archive_sha256, pruned_by, pruned_at, legal_basis].map((value) => [
      value,
    ]),
  )
}

/** All prunes, latest first. */
export async function readPrunes(scope: Scope, tx: Transaction): Promise<Prune[]> {
  return tx.query<Prune>(
    `select ${columns} from prunes where org_id = $1 order by pruned_at desc, prunes.before desc, id desc`,
    [scope.org_id],
  )
}

/** All prunes, the latest end of the archive first. */
export async function prunesByReach(scope: Scope, tx: Transaction): Promise<Prune[]> {
  return tx.query<Prune>(`select ${columns} from prunes p where org_id = $1 order by p.before desc, p.id desc`, [
    scope.org_id,
  ])
}

/** The first log index at or after `from` that has more than a leaf hash; null when no index has. */
export async function firstStored(scope: Scope, tx: Transaction, from: number): Promise<number | null> {
  const [row] = await tx.query<{ first: number | null }>(
    `select least((select min(log_index) from log_entries where org_id = $1 and log_index >= $2),
       (select min(log_index) from log_records where org_id = $1 and log_index >= $2))::bigint as first`,
    [scope.org_id, from],
  )
  return row?.first ?? null
}
