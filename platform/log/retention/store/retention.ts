// How long entries are kept, and taking out those whose time is over; their leaf hashes stay.
import type { IndexSpan } from '@svc/proof'
import type { Prune } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { insertRows, utc } from '../../../db/sql.js'
import { heldTasks } from './holds.js'

export async function retentionDays(scope: Scope, tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ retention_days: number }>('select retention_days from org_log where org_id = $1', [
    scope.org_id,
  ])
  // The database could hold anything; the law has a floor.
  return Math.max(fewestDays, row?.retention_days ?? fewestDays)
}

/** Days (AI Act, Articles 19 and 26(6)). */
const fewestDays = 184

export async function setRetentionDays(scope: Scope, tx: Transaction, days: number): Promise<void> {
  await tx.query('update org_log set retention_days = $2 where org_id = $1', [scope.org_id, days])
}

/**
 * The places below `end` that may go, as ranges: whole tasks that have no later entry, and what is no step, but for what
 * says why something else is gone, incidents that are not closed, and whatever is held, with what tells of it.
 */
export async function prunablePlaces(scope: Scope, tx: Transaction, end: number): Promise<IndexSpan[]> {
  const { all, tasks } = await heldTasks(scope, tx)
  if (all) return []
  const rows = await tx.query<{ first: number; last: number }>(
    `with places as (
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
           and (v.subject_kind = 'task' and v.subject_id = any($3::text[])) is not true
           and not exists (select 1 from holds h where h.org_id = r.org_id and v.subject_kind = 'hold' and h.id = v.subject_id
             and h.released_at is null)
     ), islands as (select log_index, log_index - row_number() over (order by log_index) as island from places)
     select min(log_index)::bigint as first, max(log_index)::bigint as last from islands group by island order by 1`,
    [scope.org_id, end, tasks],
  )
  return rows.map(({ first, last }) => [first, last] as const)
}

const inRanges = `using unnest($2::bigint[], $3::bigint[]) as r(first, last)
  where x.org_id = $1 and x.log_index between r.first and r.last`

/** Deletes what is stored of these places but for their leaf hashes, and what they alone told of. */
export async function deletePlaces(scope: Scope, tx: Transaction, places: readonly IndexSpan[]): Promise<void> {
  const ranges = [scope.org_id, places.map(([first]) => first), places.map(([, last]) => last)]
  await tx.query(
    `delete from task_heads h using log_entries x, unnest($2::bigint[], $3::bigint[]) as r(first, last)
     where x.org_id = $1 and x.log_index between r.first and r.last and h.org_id = x.org_id and h.task_id = x.task_id`,
    ranges,
  )
  for (const table of ['log_entries', 'log_payloads', 'log_violations', 'subject_places'])
    await tx.query(`delete from ${table} x ${inRanges}`, ranges)
  const told = await tx.query<{ type: string; subject_id: string }>(
    `delete from log_records x ${inRanges} returning x.type, x.subject_id`,
    ranges,
  )
  const without = (type: string) => [scope.org_id, told.filter((one) => one.type === type).map((one) => one.subject_id)]
  const isUntold = (row: string) =>
    `${row}.org_id = $1 and ${row}.id = any($2::text[])
     and not exists (select 1 from log_records r where r.org_id = ${row}.org_id and r.subject_id = ${row}.id)`
  await tx.query(
    `delete from incidents i where i.state in ('resolved', 'ignored') and ${isUntold('i')}`,
    without('incident'),
  )
  // Only the owner of the table may, and only while it says that it prunes.
  await tx.query("set local role none; select set_config('app.pruning', 'on', true)")
  await tx.query(`delete from events v where ${isUntold('v')}`, without('event'))
  await tx.query("select set_config('app.pruning', 'off', true); set local role svc_app")
}

const types = {
  ...{ org_id: 'text', id: 'text', before: 'timestamptz', entries: 'bigint', archive: 'text', archive_sha256: 'text' },
  ...{ pruned_by: 'text', pruned_at: 'timestamptz', legal_basis: 'text' },
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

/** What has been pruned, the latest first. */
export async function readPrunes(scope: Scope, tx: Transaction): Promise<Prune[]> {
  return tx.query<Prune>(
    `select ${columns} from prunes where org_id = $1 order by pruned_at desc, prunes.before desc, id desc`,
    [scope.org_id],
  )
}

/** What has been pruned, in the order of how far archives reach, the furthest first. */
export async function prunesByReach(scope: Scope, tx: Transaction): Promise<Prune[]> {
  return tx.query<Prune>(`select ${columns} from prunes p where org_id = $1 order by p.before desc, p.id desc`, [
    scope.org_id,
  ])
}

/** The first place from there on of which more than the leaf hash is stored; null when there is none. */
export async function firstStored(scope: Scope, tx: Transaction, from: number): Promise<number | null> {
  const [row] = await tx.query<{ first: number | null }>(
    `select least((select min(log_index) from log_entries where org_id = $1 and log_index >= $2),
       (select min(log_index) from log_records where org_id = $1 and log_index >= $2))::bigint as first`,
    [scope.org_id, from],
  )
  return row?.first ?? null
}
