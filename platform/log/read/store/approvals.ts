// The entries around a page that approvals of its steps are compared with.
import type { StoredHead } from '@svc/proof'
import type { StepApproval } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { raw, read, rowsOf } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { readByIndex, utc } from '../../../db/sql.js'
import { readHeads } from '../../../ledger/log.js'
import { gateTypes, isBoundGate, matchApprovals } from '../match-approvals.js'
import { readEntries, type ShownEntry } from './logs.js'

/** Positions of a task, `end` excluded. */
interface Positions {
  readonly task_id: string
  readonly first: number
  readonly end: number
}

/** The entries besides those of a page that are compared with them. */
const maxCompared = 2000

/** The approvals of the entries of a page, by log index. Gates and steps up to `distance` positions apart are compared. */
export async function readApprovals(
  scope: Scope,
  tx: Transaction,
  page: readonly ShownEntry[],
  distance: number,
): Promise<ReadonlyMap<number, StepApproval>> {
  await readByIndex(tx)
  await tx.query('set local enable_bitmapscan = off')
  const ends = new Map<string, number>()
  for (const { entry } of page) ends.set(entry.task_id, Math.max(entry.seq + 1, ends.get(entry.task_id) ?? 0))
  const heads = await readHeads(scope, tx, [...ends.keys()])
  const known = new Map(page.map((shown) => [shown.entry.log_index, shown]))
  const addAt = async (positions: readonly Positions[], types?: readonly string[]) => {
    const found = await find(scope, tx, joinedPositions(positions), heads, types)
    for (const shown of await readEntries(
      scope,
      tx,
      found.filter(({ log_index }) => !known.has(log_index)),
    ))
      known.set(shown.entry.log_index, shown)
  }
  await addAt(
    page.map(({ entry: { task_id, seq } }) => ({ task_id, first: seq - distance, end: seq })),
    gateTypes,
  )
  const onPage = new Set(page)
  const after = [...known.values()].filter(isBoundGate).map((gate) => {
    const { task_id, seq } = gate.entry
    const end = seq + distance + 1
    return { task_id, first: seq + 1, end: onPage.has(gate) ? end : Math.min(end, ends.get(task_id) ?? 0) }
  })
  await addAt(after)
  const entries = [...known.values()].toSorted((a, b) => a.entry.log_index - b.entry.log_index)
  const found = [...ends.keys()].flatMap((task_id) => {
    const own = entries.filter(({ entry }) => entry.task_id === task_id)
    return [...matchApprovals(own, heads.get(task_id)?.seq ?? 0)]
  })
  return new Map(found)
}

/** Positions without overlaps. */
function joinedPositions(positions: readonly Positions[]): Positions[] {
  const joined: { task_id: string; first: number; end: number }[] = []
  const sorted = positions.toSorted((a, b) =>
    a.task_id === b.task_id ? a.first - b.first : a.task_id < b.task_id ? -1 : 1,
  )
  for (const { task_id, first, end } of sorted) {
    const last = joined.at(-1)
    if (last?.task_id === task_id && first <= last.end) last.end = Math.max(last.end, end)
    else joined.push({ task_id, first, end })
  }
  return joined.filter(({ first, end }) => first < end)
}

interface Found {
  readonly log_index: number
  readonly received_at: string
}

/** One range of the index for each of the positions; the times of the tasks exclude the partitions of other months. */
async function find(
  scope: Scope,
  tx: Transaction,
  positions: readonly Positions[],
  heads: ReadonlyMap<string, StoredHead>,
  types?: readonly string[],
): Promise<Found[]> {
  const wanted = positions.flatMap((one) => {
    const head = heads.get(one.task_id)
    return head === undefined ? [] : [{ ...one, since: head.first_received_at, until: head.last_received_at }]
  })
  if (wanted.length === 0) return []
  const [since, until] = [wanted.map((one) => one.since), wanted.map((one) => one.until)]
  const ofOne = rowsOf(scope, 'log_entries e')
    .select('e.log_index', 'e.received_at')
    .whereRaw(
      'e.task_id = t.task_id and e.seq >= t.first and e.seq < t.end_seq and e.received_at between t.since and t.until',
    )
    .whereRaw('e.received_at between ? and ?', [since.toSorted()[0] ?? '', until.toSorted().at(-1) ?? ''])
    .orderBy('e.seq')
  if (types !== undefined) ofOne.whereIn('e.step_type', types)
  const entries = raw(
    `select f.log_index, ${utc('f.received_at')}
     from unnest(?::text[], ?::bigint[], ?::bigint[], ?::timestamptz[], ?::timestamptz[]) as t(task_id, first, end_seq, since, until)
     cross join lateral ? f limit ${maxCompared}`,
    [
      wanted.map((one) => one.task_id),
      wanted.map((one) => one.first),
      wanted.map((one) => one.end),
      since,
      until,
      ofOne,
    ],
  )
  return read<Found>(tx, entries)
}

/** The approvals of an entry as a member of it; without one where they were not asked for. */
export function approvalAt(
  approvals: ReadonlyMap<number, StepApproval> | null,
  log_index: number,
): { readonly approval?: StepApproval } {
  const approval = approvals?.get(log_index)
  return approval === undefined ? {} : { approval }
}
