// Erasures: salts and values are deleted, and the remaining commitments can be neither opened nor guessed.
import { covers, openedLeaf, removalAuthorizationIn, type StoredRecord } from '@svc/proof'
import type { Erasure, ViolationDetails } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { equal, type Filter, type Listed, type Page, page, rowsOf } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { insertRows, utc } from '../../../db/sql.js'

/** An entry of a task. */
export interface TaskEntry {
  readonly task_id: string
  readonly log_index: number
}

/** Entries of a task whose payload is not erased. */
export async function withPayloadOfTask(scope: Scope, tx: Transaction, task_id: string): Promise<TaskEntry[]> {
  return tx.query<TaskEntry>(`${selectWithPayload} and e.task_id = $2 order by e.log_index`, [scope.org_id, task_id])
}

/** The entries at these log indexes whose payload is not erased. */
export async function withPayloadAt(
  scope: Scope,
  tx: Transaction,
  log_indexes: readonly number[],
): Promise<TaskEntry[]> {
  return tx.query<TaskEntry>(`${selectWithPayload} and e.log_index = any($2::bigint[]) order by e.log_index`, [
    scope.org_id,
    log_indexes,
  ])
}

const selectWithPayload = `select e.task_id, e.log_index from log_entries e join log_payloads p
  on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at and p.body is not null
  where e.org_id = $1`

/** Erases the payloads of these entries. */
export async function erasePayloads(scope: Scope, tx: Transaction, log_indexes: readonly number[]): Promise<void> {
  await tx.query(
    `update log_payloads p set salts = null, body = null from log_leaves l
     where l.org_id = $1 and l.log_index = any($2::bigint[]) and p.org_id = l.org_id and p.log_index = l.log_index
       and p.received_at = l.received_at`,
    [scope.org_id, log_indexes],
  )
}

/** Leaves one label to each of these entries that read memory: the paths of parts hold keys of the erased output. */
export async function eraseMemoryPaths(scope: Scope, tx: Transaction, log_indexes: readonly number[]): Promise<void> {
  await tx.query(
    `update memory_reads set labels = jsonb_build_object('trust', least, 'parts', '[]'::jsonb)
     where org_id = $1 and log_index = any($2::bigint[])`,
    [scope.org_id, log_indexes],
  )
}

/** Deletes the ids by which these entries are recognised: a keyed hash of content could confirm a guess. */
export async function eraseOrigins(scope: Scope, tx: Transaction, log_indexes: readonly number[]): Promise<void> {
  await tx.query('delete from step_origins where org_id = $1 and log_index = any($2::bigint[])', [
    scope.org_id,
    log_indexes,
  ])
}

/** Deletes what an approval compares with the actions of these entries and tasks: no approval settles their questions any more. */
export async function eraseActions(
  { org_id }: Scope,
  tx: Transaction,
  log_indexes: readonly number[],
  task_ids: readonly string[],
): Promise<void> {
  await tx.query('delete from approved_steps where org_id = $1 and log_index = any($2::bigint[])', [
    org_id,
    log_indexes,
  ])
  await tx.query('update incident_occurrences set question = null where org_id = $1 and task_id = any($2::text[])', [
    org_id,
    task_ids,
  ])
}

/** Deletes the counts of unmapped spans whose example is of these tasks: the name of a span may hold content. */
export async function eraseSpanNames(scope: Scope, tx: Transaction, task_ids: readonly string[]): Promise<void> {
  await tx.query(
    `delete from unmapped_spans where org_id = $1 and trace_id in (
       select unnest($2::text[]) union all
       select trace_id from trace_tasks where org_id = $1 and task_id = any($2::text[]))`,
    [scope.org_id, task_ids],
  )
}

/** Erases the payloads of the incident leaves of these tasks, and returns their entries. */
export async function eraseIncidentLeaves(
  scope: Scope,
  tx: Transaction,
  task_ids: readonly string[],
): Promise<TaskEntry[]> {
  return tx.query<TaskEntry>(
    `update log_records r set salts = null, body = null from incidents i
     where i.org_id = $1 and i.task_id = any($2::text[]) and r.org_id = i.org_id and r.subject_id = i.id
       and r.type = 'incident' and r.body is not null returning r.log_index, i.task_id`,
    [scope.org_id, task_ids],
  )
}

/** Deletes step names, which are payload, from the violations and incidents of these tasks. */
export async function eraseEvidence(scope: Scope, tx: Transaction, task_ids: readonly string[]): Promise<void> {
  const violations = await tx.query<{ log_index: number; policy_id: number; details: ViolationDetails }>(
    'select log_index, policy_id, details from log_violations where org_id = $1 and task_id = any($2::text[])',
    [scope.org_id, task_ids],
  )
  await tx.query(
    `update log_violations v set details = u.details from unnest($2::bigint[], $3::bigint[], $4::json[])
       as u(log_index, policy_id, details)
     where v.org_id = $1 and v.log_index = u.log_index and v.policy_id = u.policy_id`,
    [
      scope.org_id,
      violations.map((row) => row.log_index),
      violations.map((row) => row.policy_id),
      violations.map((row) => JSON.stringify(withoutStepNames(row.details))),
    ],
  )
  const incidents = await tx.query<{ id: string; violation_details: ViolationDetails }>(
    'select id, violation_details from incidents where org_id = $1 and task_id = any($2::text[])',
    [scope.org_id, task_ids],
  )
  await tx.query(
    `update incidents i set violation_details = u.details from unnest($2::text[], $3::json[]) as u(id, details)
     where i.org_id = $1 and i.id = u.id`,
    [
      scope.org_id,
      incidents.map((row) => row.id),
      incidents.map((row) => JSON.stringify(withoutStepNames(row.violation_details))),
    ],
  )
}

function withoutStepNames(details: ViolationDetails): ViolationDetails {
  return { ...details, evidence: details.evidence.map((step) => ({ ...step, step_name: null })) }
}

const types = {
  org_id: 'text',
  id: 'text',
  task_id: 'text',
  legal_basis: 'text',
  erased_by: 'text',
  erased_at: 'timestamptz',
  entries: 'bigint',
  tasks: 'bigint',
}

export async function insertErasure(scope: Scope, tx: Transaction, erasure: Erasure): Promise<void> {
  const { id, task_id, legal_basis, erased_by, erased_at, entries, tasks } = erasure
  await tx.query(
    insertRows('erasures', types),
    [scope.org_id, id, task_id, legal_basis, erased_by, erased_at, entries, tasks].map((value) => [value]),
  )
}

const erasureColumns = `id, task_id, legal_basis, erased_by, ${utc('erased_at')}, entries, tasks`

/** The entries of a task whose erasure a leaf authorizes, and the log indexes of these leaves. */
export async function erasedOf(scope: Scope, tx: Transaction, task_id: string) {
  const rows = await tx.query<StoredRecord>(
    `select r.log_index, l.leaf_hash as hash, r.record, r.salts, r.body from log_records r join log_leaves l
       on l.org_id = r.org_id and l.log_index = r.log_index and l.type = r.type
     where r.org_id = $1 and r.subject_id = $2 and r.type = 'erasure' order by r.log_index`,
    [scope.org_id, task_id],
  )
  const spans = rows.flatMap(
    (row) =>
      removalAuthorizationIn({ type: 'erasure', received_at: '' }, openedLeaf(row) ?? {}, row.log_index)?.spans ?? [],
  )
  return {
    log_indexes: rows.map(({ log_index }) => log_index),
    covers: (log_index: number) => covers(spans, log_index),
  }
}

export async function listErasures(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<Erasure>> {
  const erasures = rowsOf(scope, 'erasures').where(equal({ task_id: filter.task_id }))
  return page<Erasure>(tx, erasures, { columns: erasureColumns, key: 'id', newest_first: true }, at)
}
