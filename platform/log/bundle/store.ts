// Reads the content of a bundle in pages, exactly as it is stored.
import type { Range } from '@svc/proof'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import type { FullLeaf } from '../../ledger/stored-leaves.js'
import type { StoredCheckpoint } from '../publish/store/checkpoints.js'

/** A leaf whose record is kept. */
type ProvenLeaf = FullLeaf & { readonly record: string }

const fullLeaves = `select l.log_index, l.leaf_hash, coalesce(e.record, r.record) as record,
    coalesce(p.salts, r.salts) as salts, coalesce(p.body, r.body) as body
  from log_leaves l
  left join log_records r on r.org_id = l.org_id and r.log_index = l.log_index
  left join log_entries e on e.org_id = l.org_id and e.log_index = l.log_index and e.received_at = l.received_at
  left join log_payloads p on p.org_id = l.org_id and p.log_index = l.log_index and p.received_at = l.received_at`

/** The leaves of a range, in order, with their content; a missing leaf is left out. */
export async function readFullLeaves(scope: Scope, tx: Transaction, { from, to }: Range): Promise<FullLeaf[]> {
  return tx.query<FullLeaf>(
    `${fullLeaves} where l.org_id = $1 and l.log_index >= $2 and l.log_index < $3 order by l.log_index`,
    [scope.org_id, from, to],
  )
}

/**
 * The leaves at these log indexes, in order, with their content; one whose record was deleted is left out. One after the other: the
 * embedded database, which has no statistics, would join all leaves of the log.
 */
export async function readLeavesAt(scope: Scope, tx: Transaction, indexes: readonly number[]): Promise<ProvenLeaf[]> {
  return tx.query<ProvenLeaf>(
    `select leaf.* from unnest($2::bigint[]) as wanted(log_index) cross join lateral (
       ${fullLeaves} where l.org_id = $1 and l.log_index = wanted.log_index limit 1) leaf
     where leaf.record is not null order by leaf.log_index`,
    [scope.org_id, indexes],
  )
}

/** The last note of every checkpoint whose size is within the range or listed; smallest first. */
export async function checkpointsOf(
  scope: Scope,
  tx: Transaction,
  { from, to }: Range,
  sizes: readonly number[],
): Promise<Pick<StoredCheckpoint, 'size' | 'root' | 'note'>[]> {
  return tx.query(
    `select distinct on (size, epoch) size, root, note from checkpoints
     where org_id = $1 and (size > $2 and size <= $3 or size = any($4::bigint[]))
     order by size, epoch, published_at desc`,
    [scope.org_id, from, to, sizes],
  )
}

/** The leaves of the events `log.restarted`, in order. */
export async function readRestarts(scope: Scope, tx: Transaction): Promise<FullLeaf[]> {
  return tx.query<FullLeaf>(
    `select r.log_index, r.hash as leaf_hash, r.record, r.salts, r.body from log_records r
     join events v on v.org_id = r.org_id and v.id = r.subject_id
     where r.org_id = $1 and r.type = 'event' and v.kind = 'log.restarted' order by r.log_index`,
    [scope.org_id],
  )
}

/** The latest leaf of an issued report; null for an unknown one. */
export async function readReport(scope: Scope, tx: Transaction, id: string): Promise<FullLeaf | null> {
  const [leaf] = await tx.query<FullLeaf>(
    `select log_index, hash as leaf_hash, record, salts, body from log_records
     where org_id = $1 and type = 'report' and subject_id = $2 order by log_index desc limit 1`,
    [scope.org_id, id],
  )
  return leaf ?? null
}

/**
 * For each of these agents, the log index of the event that holds its facts at another log index. An agent that an earlier release
 * changed last has none.
 */
export async function leavesOfFacts(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
  before: number,
): Promise<number[]> {
  const rows = await tx.query<{ log_index: number }>(
    `select r.log_index from unnest($2::text[]) as a(agent_id)
     cross join lateral (
       select v.org_id, v.id, v.data from events v
       where v.org_id = $1 and v.subject_id = a.agent_id and v.subject_kind = 'agent' and v.log_index < $3
         and v.kind in ('agent.registered', 'agent.updated', 'agent.risk_confirmed')
       order by v.log_index desc limit 1) v
     join log_records r on r.org_id = v.org_id and r.subject_id = v.id and r.type = 'event'
     where v.data ? 'facts' and r.salts is not null and r.body is not null`,
    [scope.org_id, agent_ids, before],
  )
  return rows.map(({ log_index }) => log_index)
}

/** Bodies of policy sets, in the order of their digests; a missing one is left out. */
export async function policySetBodies(scope: Scope, tx: Transaction, digests: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ body: string }>(
    'select body from policy_sets where org_id = $1 and digest = any($2::text[]) order by digest',
    [scope.org_id, digests],
  )
  return rows.map(({ body }) => body)
}

/** The current name of the workspace. */
export async function workspaceName(scope: Scope, tx: Transaction): Promise<string | null> {
  const [row] = await tx.query<{ name: string }>('select name from organizations where org_id = $1', [scope.org_id])
  return row?.name ?? null
}

/** When an entry was received, as in its record; null for an unknown one. */
export async function receivedAt(scope: Scope, tx: Transaction, log_index: number): Promise<string | null> {
  const [row] = await tx.query<{ received_at: string }>(
    `select ${utc('received_at')} from log_leaves where org_id = $1 and log_index = $2`,
    [scope.org_id, log_index],
  )
  return row?.received_at ?? null
}
