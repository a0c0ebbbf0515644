// Facts about the memories of agents, and the labels of steps that read them.
import type { MemoryLabel } from '@svc/engine'
import type { OthersLabel } from '@svc/engine/parts'
import type { JsonMap } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf } from '../../db/sql.js'

interface MemoryRow {
  readonly agent_id: string
  readonly marks: number
  /** The least trusted label of others; null when nothing of others was written. */
  readonly worst: OthersLabel | null
  readonly overflow: boolean
}

interface MarkRow {
  readonly agent_id: string
  readonly digest: string
  readonly label: MemoryLabel
}

export interface MemoryRead {
  readonly log_index: number
  /** The least trusted of the labels. */
  readonly least: OthersLabel
  readonly labels: JsonMap
}

/** The memories of these agents; an agent that has written nothing has no row. */
export async function findMemories(scope: Scope, tx: Transaction, agent_ids: readonly string[]): Promise<MemoryRow[]> {
  return tx.query<MemoryRow>(
    'select agent_id, marks, worst, overflow from memory_agents where org_id = $1 and agent_id = any($2::text[])',
    [scope.org_id, agent_ids],
  )
}

/** The marks of these agents among the digests. */
export async function findMarks(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
  digests: readonly string[],
): Promise<MarkRow[]> {
  if (digests.length === 0) return []
  return tx.query<MarkRow>(
    `select agent_id, digest, label from memory_marks
     where org_id = $1 and agent_id = any($2::text[]) and digest = any($3::text[])`,
    [scope.org_id, agent_ids, digests],
  )
}

/** Writes memories and marks; a memory that overflows keeps no marks. The log must be locked. */
export async function writeMemories(
  scope: Scope,
  tx: Transaction,
  memories: readonly MemoryRow[],
  marks: readonly MarkRow[],
  removed: readonly Omit<MarkRow, 'label'>[],
): Promise<void> {
  await tx.query(
    `delete from memory_marks m using unnest($2::text[], $3::text[]) as u(agent_id, digest)
     where m.org_id = $1 and m.agent_id = u.agent_id and m.digest = u.digest`,
    [scope.org_id, ...columnsOf(removed, ['agent_id', 'digest'])],
  )
  await tx.query(
    `insert into memory_marks (org_id, agent_id, digest, label)
     select $1, u.* from unnest($2::text[], $3::text[], $4::text[]) as u
     on conflict (org_id, agent_id, digest) do update set label = excluded.label`,
    [scope.org_id, ...columnsOf(marks, ['agent_id', 'digest', 'label'])],
  )
  await tx.query(
    `insert into memory_agents (org_id, agent_id, marks, worst, overflow)
     select $1, u.* from unnest($2::text[], $3::bigint[], $4::text[], $5::boolean[]) as u
     on conflict (org_id, agent_id) do update set marks = excluded.marks, worst = excluded.worst, overflow = excluded.overflow`,
    [scope.org_id, ...columnsOf(memories, ['agent_id', 'marks', 'worst', 'overflow'])],
  )
  const full = memories.flatMap(({ agent_id, overflow }) => (overflow ? [agent_id] : []))
  if (full.length > 0)
    await tx.query('delete from memory_marks where org_id = $1 and agent_id = any($2::text[])', [scope.org_id, full])
}

/** Stores the labels of recorded steps. */
export async function insertMemoryReads(scope: Scope, tx: Transaction, reads: readonly MemoryRead[]): Promise<void> {
  if (reads.length === 0) return
  const rows = reads.map(({ labels, ...row }) => ({ ...row, labels: JSON.stringify(labels) }))
  await tx.query(
    `insert into memory_reads (org_id, log_index, least, labels)
     select $1, u.log_index, u.least, u.labels::jsonb
     from unnest($2::bigint[], $3::text[], $4::text[]) as u(log_index, least, labels)`,
    [scope.org_id, ...columnsOf(rows, ['log_index', 'least', 'labels'])],
  )
}
