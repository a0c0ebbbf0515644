// From a request to a plan: the rules of the period, the agents and the cut-off (docs/design/reports.md §1).
import { quote } from '@svc/engine/parts'
import { receiptsOf } from '@svc/proof'
import type { ReportPlan } from '@svc/report'
import { reportIdOf } from '@svc/report'
import { isoTime, parseTimestamp, type ReportRequest } from '@svc/schemas'
import { findAgents } from '../agents/store/agents.js'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { type FieldError, invalid, PlatformError } from '../errors.js'
import { entriesOfPeriod, indexOfTime } from '../ledger/log-range.js'
import { latestCheckpoint, nearestSizes, rootOfSize } from '../log/publish/store/checkpoints.js'

/** The time after which a caller asks again for entries that are not signed yet: checkpoints are published every ten seconds. */
const unsignedSeconds = 5

export interface Now {
  /** ms since 1970 */
  readonly time: number
  /** The size of the log, which is locked. */
  readonly size: number
}

/**
 * Resolves what the request leaves open; a period that ends in the future ends now. Rejects with INVALID naming every wrong field,
 * with TOO_LARGE, and with UnsignedEntries.
 */
export async function planRequest(
  scope: Scope,
  tx: Transaction,
  now: Now,
  request: ReportRequest,
): Promise<ReportPlan> {
  const period = periodOf(request, now.time)
  const agent_ids = await agentsOf(scope, tx, request.agent_ids ?? [])
  const by = request.by ?? 'received'
  const given = request.cut_off ?? null
  // By the times that senders state, a step of the period can be received after it: the latest cut-off covers all that is known.
  const end =
    by === 'occurred' && given === null
      ? await indexOfTime(scope, tx, isoTime(now.time + 1), now.size)
      : (await entriesOfPeriod(scope, tx, period, now.size)).end
  const cutOff = await cutOffOf(scope, tx, end, given)
  await entriesOfPeriod(scope, tx, receiptsOf({ ...period, by }), cutOff.cut_off)
  const decided = { format: request.format, period, by, agent_ids, ...cutOff }
  return { id: reportIdOf(scope.org_id, decided), ...decided }
}

/** Throws INVALID. */
function periodOf({ from, to }: ReportRequest, now: number): ReportPlan['period'] {
  const [first, last] = [parseTimestamp(from) ?? Number.NaN, endOf(to)]
  const end = Math.min(last, now)
  const errors: FieldError[] = []
  if (first < 0) errors.push({ path: 'from', message: `must be 1970-01-01T00:00:00Z or later, found ${quote(from)}` })
  if (first >= now)
    errors.push({ path: 'from', message: `must not be in the future, found ${quote(from)}: now is ${isoTime(now)}` })
  if (first >= last)
    errors.push({ path: 'to', message: `must be later than \`from\`, which is ${quote(from)}, found ${quote(to)}` })
  if (errors.length > 0) throw invalid(errors)
  return { from: isoTime(first), to: isoTime(end) }
}

/** The exclusive end of a period: of a day, the first moment of the next one in UTC. */
function endOf(to: string): number {
  const time = parseTimestamp(to) ?? Number.NaN
  return /^\d{4}-?\d\d-?\d\d$/.test(to) ? time + 86_400_000 : time
}

/** Sorted, each once; null for all. Rejects with INVALID naming each unknown id. */
async function agentsOf(scope: Scope, tx: Transaction, given: readonly string[]): Promise<readonly string[] | null> {
  if (given.length === 0) return null
  const known = new Set((await findAgents(scope, tx, printableIds(given))).map(({ agent_id }) => agent_id))
  const unknown = given.flatMap((id, at) =>
    known.has(id)
      ? []
      : [{ path: `agent_ids.${at}`, message: `must be the id of an agent of this workspace, found ${quote(id)}` }],
  )
  if (unknown.length > 0) throw invalid(unknown.slice(0, maxErrors))
  return [...known].sort()
}

/** The maximum number of unknown agents that one answer names. */
const maxErrors = 50

/** PostgreSQL rejects NUL, and no id has control characters. */
function printableIds(ids: readonly string[]): string[] {
  return ids.filter((id) => !/\p{Cc}/u.test(id))
}

/** The cut-off for a period whose entries end before the log index `end`. */
async function cutOffOf(scope: Scope, tx: Transaction, end: number, given: number | null) {
  const latest = await latestCheckpoint(scope, tx)
  if (latest === null || latest.size < end) throw unsigned(end - (latest?.size ?? 0), latest === null)
  if (given === null) return { cut_off: latest.size, root: latest.root }
  const root = given < end || given > latest.size ? null : await rootOfSize(scope, tx, given)
  if (root !== null) return { cut_off: given, root }
  // No number of the database is larger than the size of the log.
  const sizes = await nearestSizes(scope, tx, Math.min(given, latest.size + 1), { first: end, last: latest.size })
  const wanted = `the size of a published checkpoint that covers the ${end} entries before \`to\``
  const message = `must be ${wanted}, found ${given}: write ${sizes.join(' or ')}, or leave it out for the latest`
  throw invalid([{ path: 'cut_off', message }])
}

/** Entries of the period are not signed yet. */
export class UnsignedEntries extends PlatformError {
  override readonly code = 'UNAVAILABLE'
}

function unsigned(count: number, isFirst: boolean): UnsignedEntries {
  const which = isFirst ? 'no checkpoint of this log has been published yet' : `${entries(count)} not signed yet`
  const headers = { 'retry-after': String(unsignedSeconds) }
  return new UnsignedEntries('UNAVAILABLE', `${which}: try again in some seconds; if this remains, see /readyz`, {
    headers,
  })
}

function entries(count: number): string {
  return count === 1 ? '1 entry of the period is' : `${count} entries of the period are`
}
