// The tables of the log (entries, payloads, leaves, heads of tasks), as ingestion reads and writes them.
import { withStatedLabels } from '@svc/engine/parts'
import type { StoredEntry, StoredHead } from '@svc/proof'
import { isoTime, type JsonMap, type LoggedStep } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { columnsOf, utc } from '../db/sql.js'
import { PlatformError } from '../errors.js'
import { stepOf } from './stored-step.js'
import { type StoredViolation, shownViolations, violationColumns } from './violations.js'

export interface LogState {
  readonly size: number
  /** ms since 1970; null while the log is empty. */
  readonly last_received_at: number | null
  readonly config_version: number
  /** The last published checkpoint, or that of the empty tree. */
  readonly after: { readonly size: number; readonly root: string }
}

/** A stored step that a request may repeat, with the violations reported to its sender. */
export interface EarlierStep {
  readonly entry: StoredEntry
  /** Null once the payload is erased. */
  readonly salts: string | null
  readonly violations: LoggedStep['violations']
}

/** An entry with the payload that opens its commitments. */
interface EntryRow {
  readonly entry: StoredEntry
  readonly salts: string
  readonly body: string
}

/**
 * Locks the organization's log until the transaction ends. Every writer and every change of policies takes this lock. Rejects with
 * UNAVAILABLE while the log or this process is held.
 */
export async function lockLog(scope: Scope, tx: Transaction): Promise<LogState> {
  const rows = await tx.query<LockedRow>(
    `select size, (extract(epoch from last_received_at) * 1000)::float8 as last_ms, config_version,
       checkpoint_size, checkpoint_root, held_reason
     from org_log where org_id = $1 for update`,
    [scope.org_id],
  )
  const [row] = rows
  if (row === undefined) throw new Error(`organization \`${scope.org_id}\` has no log`)
  const { size, config_version, last_ms, held_reason } = row
  if (held_reason !== null) throw new PlatformError('UNAVAILABLE', heldText(held_reason))
  if (tx.held !== null) throw new PlatformError('UNAVAILABLE', `this process takes no entries, because ${tx.held}`)
  const after = { size: row.checkpoint_size, root: row.checkpoint_root }
  return { size, config_version, last_received_at: last_ms === null ? null : Math.round(last_ms), after }
}

function heldText(reason: string): string {
  return `the log takes no entries, because ${reason}: the operator of the platform decides whether it continues`
}

interface LockedRow {
  readonly size: number
  readonly last_ms: number | null
  readonly config_version: number
  readonly checkpoint_size: number
  readonly checkpoint_root: string
  readonly held_reason: string | null
}

/** The size of the organization's log in the snapshot of the transaction. */
export async function readLogSize(scope: Scope, tx: Transaction): Promise<number> {
  const [row] = await tx.query<{ size: number }>('select size from org_log where org_id = $1', [scope.org_id])
  return row?.size ?? 0
}

/** Announces to every process that agents, policies or assignments changed. The log must be locked. */
export async function bumpConfig(scope: Scope, tx: Transaction): Promise<void> {
  await tx.query('update org_log set config_version = config_version + 1 where org_id = $1', [scope.org_id])
}

const entryColumns = [
  'org_id',
  'log_index',
  'log_id',
  'agent_id',
  'task_id',
  'seq',
  'step',
  'step_type',
  'timestamp',
  'is_external_call',
  'has_write_permission',
  'prev_hash',
  'client_prev_hash',
  'api_key_id',
  'policy_set',
  'hash',
  'record',
]
export const entrySelect = [
  ...entryColumns.map((column) => `e.${column}`),
  utc('e.received_at'),
  utc('e.occurred_at'),
].join(', ')
const headTimes = ['first_received_at', 'last_received_at'] as const
const headColumns = {
  org_id: 'text',
  task_id: 'text',
  agent_id: 'text',
  seq: 'bigint',
  hash: 'text',
  first_log_index: 'bigint',
  last_log_index: 'bigint',
  min_step: 'bigint',
  max_step: 'bigint',
  first_ts: 'text',
  last_ts: 'text',
  first_received_at: 'timestamptz',
  last_received_at: 'timestamptz',
  has_end: 'boolean',
  has_error: 'boolean',
} satisfies Record<keyof StoredHead, string>
const headSelect = (Object.keys(headColumns) as (keyof StoredHead)[])
  .map((column) => (headTimes.some((time) => time === column) ? utc(column) : column))
  .join(', ')

/** The heads of the tasks that exist, by task. */
export async function readHeads(scope: Scope, tx: Transaction, task_ids: readonly string[]) {
  const rows = await tx.query<StoredHead>(
    `select ${headSelect} from task_heads where org_id = $1 and task_id = any($2::text[])`,
    [scope.org_id, task_ids],
  )
  return new Map(rows.map((head) => [head.task_id, head]))
}

/** Entries with these step numbers in these tasks, oldest first, with the violations reported to their senders. */
export async function findSteps(
  scope: Scope,
  tx: Transaction,
  wanted: readonly { readonly task_id: string; readonly step: number }[],
): Promise<EarlierStep[]> {
  if (wanted.length === 0) return []
  const rows = await tx.query<StoredEntry & { salts: string | null; violations: StoredViolation[] }>(
    `select ${entrySelect}, p.salts, coalesce((
       select json_agg(${violationColumns} order by v.policy_id) from log_violations v
       where v.org_id = e.org_id and v.log_index = e.log_index), '[]'::json) as violations
     from log_entries e
     left join log_payloads p on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at
     where e.org_id = $1
       and (e.task_id, e.step) in (select * from unnest($2::text[], $3::bigint[]))
     order by e.log_index`,
    [scope.org_id, wanted.map((step) => step.task_id), wanted.map((step) => step.step)],
  )
  return rows.map(({ salts, violations, ...entry }) => ({ entry, salts, violations: shownViolations(violations) }))
}

/** Steps of a task after `seq`, as rules read them; a step whose payload is erased keeps its envelope and its labels. */
export async function readTail(scope: Scope, tx: Transaction, task_id: string, seq: number) {
  const rows = await tx.query<StoredEntry & { body: string | null; labels: JsonMap | null }>(
    `select ${entrySelect}, p.body, m.labels from log_entries e
     left join log_payloads p on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at
     left join memory_reads m on m.org_id = e.org_id and m.log_index = e.log_index
     where e.org_id = $1 and e.task_id = $2 and e.seq > $3 order by e.seq`,
    [scope.org_id, task_id, seq],
  )
  return rows.map((row) => ({
    step: withStatedLabels(stepOf(row, row.body), row.labels),
    at: Date.parse(row.occurred_at),
  }))
}

const entryTypes = {
  org_id: 'text',
  log_index: 'bigint',
  log_id: 'text',
  agent_id: 'text',
  task_id: 'text',
  seq: 'bigint',
  step: 'bigint',
  step_type: 'text',
  timestamp: 'text',
  occurred_at: 'timestamptz',
  received_at: 'timestamptz',
  is_external_call: 'boolean',
  has_write_permission: 'boolean',
  prev_hash: 'text',
  client_prev_hash: 'text',
  api_key_id: 'text',
  policy_set: 'text',
  hash: 'text',
  record: 'text',
} satisfies Record<keyof StoredEntry, string>
const entryFields = Object.keys(entryTypes) as (keyof StoredEntry)[]
const headFields = Object.keys(headColumns) as (keyof StoredHead)[]
const headChanges = headFields
  .filter((column) => column !== 'org_id' && column !== 'task_id')
  .map((column) => `${column} = excluded.${column}`)
  .join(', ')

/** The head of a task after a batch, and the number of violations that the batch adds to the task. */
export interface NewHead extends StoredHead {
  readonly violations: number
}

/**
 * Writes entries with their payloads and leaves, and the heads of their tasks, at `received_at` (ms since 1970), and counts them on
 * their day with their `violations`.
 */
export async function appendEntries(
  scope: Scope,
  tx: Transaction,
  received_at: number,
  rows: readonly EntryRow[],
  heads: readonly NewHead[],
  violations: number,
): Promise<void> {
  await tx.query(append, [
    scope.org_id,
    rows.length,
    isoTime(received_at),
    violations,
    ...columnsOf(
      rows.map(({ entry }) => entry),
      entryFields,
    ),
    rows.map(({ salts }) => salts),
    rows.map(({ body }) => body),
    ...columnsOf(heads, [...headFields, 'violations']),
  ])
}

/** Creates the partitions of the month of a time; cheap when they exist. */
export async function ensurePartitionsUnscoped(tx: Transaction, time: number): Promise<void> {
  await tx.query('select svc_ensure_month($1::timestamptz)', [isoTime(time)])
}

const append = appendStatement()

function appendStatement(): string {
  const names = entryFields.join(', ')
  const given = 4
  const arrays = (types: readonly string[], before: number) =>
    types.map((type, index) => `$${before + index + 1}::${type}[]`).join(', ')
  const payloads = given + entryFields.length
  const heads = payloads + 2
  return `with placed as (
      select * from unnest(${arrays(Object.values(entryTypes), given)}, ${arrays(['text', 'text'], payloads)})
        as row(${names}, salts, body)
    ), entries as (
      insert into log_entries (${names}) select ${names} from placed
    ), payloads as (
      insert into log_payloads (org_id, log_index, received_at, salts, body)
        select org_id, log_index, received_at, salts, body from placed
    ), leaves as (
      insert into log_leaves (org_id, log_index, received_at, type, leaf_hash)
        select org_id, log_index, received_at, 'step', hash from placed
    ), heads as (
      insert into task_heads as h (${headFields.join(', ')}, violations)
        select * from unnest(${arrays([...Object.values(headColumns), 'bigint'], heads)})
        on conflict (org_id, task_id) do update
        set ${headChanges}, unfinished_at = null, violations = h.violations + excluded.violations
    ), days as (
      insert into log_days as d (org_id, day, steps, violations)
        values ($1, ($3::timestamptz at time zone 'UTC')::date, $2, $4)
        on conflict (org_id, day) do update
          set steps = d.steps + excluded.steps, violations = d.violations + excluded.violations
    )
    update org_log set size = size + $2, last_received_at = $3 where org_id = $1`
}

/** The head of a task; null for an unknown task. */
export async function readHead(scope: Scope, tx: Transaction, task_id: string): Promise<StoredHead | null> {
  const [head] = await tx.query<StoredHead>(`select ${headSelect} from task_heads where org_id = $1 and task_id = $2`, [
    scope.org_id,
    task_id,
  ])
  return head ?? null
}
