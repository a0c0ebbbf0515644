// The log as people read it: entries with their payloads, in pages.
import { receivedAtOf, type StoredEntry } from '@svc/engine'
import type { LogDetail, LogEntry, LogRecord } from '@svc/schemas'
import type { Transaction } from './db.js'
import { entrySelect } from './log.js'
import type { Scope } from './scope.js'
import { filters } from './sql.js'
import { violationColumns } from './violations.js'

export interface LogFilter {
  readonly task_id?: string
  readonly agent_id?: string
  readonly step_type?: string
  readonly from?: string
  readonly to?: string
  readonly q?: string
}

type Row = StoredEntry & { readonly body: string | null; readonly salts: string | null }

const fromLog = `from log_entries e left join log_payloads p
  on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at`

/** A page of entries: a task's in arrival order, others newest first. `after` is the log_index the last page ended at. */
export async function readLogs(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  limit: number,
  after: number | null,
): Promise<LogEntry[]> {
  const forward = filter.task_id !== undefined
  const where = filters([scope.org_id], 'e.org_id = $1')
    .add('e.task_id = ?', filter.task_id)
    .add('e.agent_id = ?', filter.agent_id)
    .add('e.step_type = ?', filter.step_type)
    .add('e.received_at >= ?', filter.from)
    .add('e.received_at <= ?', filter.to)
    .add('position(lower(?) in lower(e.task_id)) > 0', filter.q)
    .add(forward ? 'e.log_index > ?' : 'e.log_index < ?', after ?? undefined)
  const rows = await tx.query<Row>(
    `select ${entrySelect}, p.salts, p.body ${fromLog} where ${where.text}
     order by e.log_index ${forward ? 'asc' : 'desc'} limit ${limit}`,
    where.values,
  )
  return rows.map(entryView)
}

/** One entry with what was hashed and which policies it violates; null when there is none. */
export async function readLog(scope: Scope, tx: Transaction, log_id: string): Promise<LogDetail | null> {
  const received_at = receivedAtOf(log_id)
  if (received_at === null) return null
  const [row] = await tx.query<Row & Pick<LogDetail, 'violations'>>(
    `select ${entrySelect}, p.salts, p.body, coalesce((
       select json_agg(${violationColumns} order by v.policy_id) from log_violations v
       where v.org_id = e.org_id and v.log_index = e.log_index), '[]'::json) as violations
     ${fromLog} where e.org_id = $1 and e.log_id = $2 and e.received_at = $3`,
    [scope.org_id, log_id, new Date(received_at).toISOString()],
  )
  if (row === undefined) return null
  const salts = row.salts === null ? {} : (JSON.parse(row.salts) as Record<string, string>)
  return { ...entryView(row), record: JSON.parse(row.record) as LogRecord, salts, violations: row.violations }
}

function entryView({
  org_id: _org,
  occurred_at: _at,
  api_key_id: _key,
  policy_set: _set,
  record: _record,
  salts: _salts,
  body,
  ...entry
}: Row): LogEntry {
  const payload = body === null ? {} : (JSON.parse(body) as Record<string, unknown>)
  const value = (field: string) => payload[field] ?? null
  return {
    ...entry,
    verb: value('verb') as string | null,
    step_name: value('step_name') as string | null,
    input: value('input') as LogEntry['input'],
    output: value('output') as LogEntry['output'],
    properties: value('properties') as LogEntry['properties'],
    meta: value('meta') as LogEntry['meta'],
  }
}
