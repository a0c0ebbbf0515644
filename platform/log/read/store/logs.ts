// Entries with their payloads, in pages.
import { parseJson, receivedAtOf, type StoredEntry } from '@svc/proof'
import { isoTime, type LogDetail, type LogEntry, type LogRecord } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import type { Scope } from '../../../db/scope.js'
import { entrySelect } from '../../../ledger/log.js'
import { type StoredViolation, shownViolations, violationColumns } from '../../../ledger/violations.js'
import { findEntries, type LogFilter } from './log-pages.js'

type Row = StoredEntry & { readonly body: string | null; readonly salts: string | null }

const fromLog = `from log_entries e left join log_payloads p
  on p.org_id = e.org_id and p.log_index = e.log_index and p.received_at = e.received_at`

/**
 * A page of entries: those of one task in arrival order, others newest first. `after` names the last entry of the previous
 * page: its `seq` within one task, else its log index.
 */
export async function readLogs(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  limit: number,
  after: number | null,
): Promise<LogEntry[]> {
  return (await readShown(scope, tx, filter, limit, after)).map(({ entry }) => entry)
}

/** The same with what the log knows of each payload. */
export async function readShown(
  scope: Scope,
  tx: Transaction,
  filter: LogFilter,
  limit: number,
  after: number | null,
): Promise<ShownEntry[]> {
  return readEntries(scope, tx, await findEntries(scope, tx, filter, limit, after))
}

export interface ShownEntry {
  readonly entry: LogEntry
  /** Its payload was erased. */
  readonly is_erased: boolean
  /** Null once the payload is erased. */
  readonly evaluation: LogDetail['evaluation']
}

/** The found entries with their payloads, in the same order. */
export async function readEntries(
  scope: Scope,
  tx: Transaction,
  found: readonly Pick<StoredEntry, 'log_index' | 'received_at'>[],
): Promise<ShownEntry[]> {
  const times = found.map(({ received_at }) => received_at).toSorted()
  const [oldest, newest] = [times[0], times.at(-1)]
  if (oldest === undefined) return []
  // One table at a time, within the times of the page: planning a join of all partitions takes longer than reading.
  const values = [scope.org_id, found.map(({ log_index }) => log_index), oldest, newest]
  const entries = await tx.query<StoredEntry>(`select ${entrySelect} from log_entries e where ${onPage('e')}`, values)
  const payloads = await tx.query<Payload & Pick<Row, 'log_index'>>(
    `select p.log_index, p.salts, p.body from log_payloads p where ${onPage('p')}`,
    values,
  )
  const payloadAt = new Map(payloads.map((payload) => [payload.log_index, payload]))
  const entryAt = new Map(entries.map((entry) => [entry.log_index, entry]))
  return found.flatMap(({ log_index }) => {
    const entry = entryAt.get(log_index)
    if (entry === undefined) return []
    const { salts, body } = payloadAt.get(log_index) ?? noPayload
    const payload = payloadIn(body)
    const { evaluation = null } = payload
    return [{ entry: entryView({ ...entry, salts, body }, payload), is_erased: body === null, evaluation }]
  })
}

type Payload = Pick<Row, 'salts' | 'body'>

const noPayload: Payload = { salts: null, body: null }

function onPage(table: string): string {
  return `${table}.org_id = $1 and ${table}.log_index = any($2::bigint[]) and ${table}.received_at between $3 and $4`
}

/** An entry with its record and violations; null for an unknown id. */
export async function readLog(scope: Scope, tx: Transaction, log_id: string): Promise<LogDetail | null> {
  const received_at = receivedAtOf(log_id)
  if (received_at === null) return null
  const [row] = await tx.query<Row & { readonly violations: readonly StoredViolation[] }>(
    `select ${entrySelect}, p.salts, p.body, coalesce((
       select json_agg(${violationColumns} order by v.policy_id) from log_violations v
       where v.org_id = e.org_id and v.log_index = e.log_index), '[]'::json) as violations
     ${fromLog} where e.org_id = $1 and e.log_id = $2 and e.received_at = $3`,
    [scope.org_id, log_id, isoTime(received_at)],
  )
  if (row === undefined) return null
  const salts = row.salts === null ? {} : (parseJson(row.salts) as Record<string, string>)
  const payload = payloadIn(row.body)
  return {
    ...entryView(row, payload),
    record: parseJson(row.record) as LogRecord,
    salts,
    evaluation: payload.evaluation ?? null,
    violations: shownViolations(row.violations),
  }
}

/** Empty once the payload is erased. */
function payloadIn(body: string | null): Partial<LogPayload> {
  return body === null ? {} : (parseJson(body) as Partial<LogPayload>)
}

type LogPayload = Pick<LogDetail, 'verb' | 'step_name' | 'input' | 'output' | 'properties' | 'meta' | 'evaluation'>

function entryView(
  {
    org_id: _org,
    occurred_at: _at,
    api_key_id: _key,
    policy_set: _set,
    record: _record,
    salts: _salts,
    body: _body,
    ...entry
  }: Row,
  payload: Partial<LogPayload>,
): LogEntry {
  const { verb = null, step_name = null, input = null, output = null, properties = null, meta = null } = payload
  return { ...entry, verb, step_name, input, output, properties, meta }
}
