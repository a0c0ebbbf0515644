// Plans a proof bundle: which entries, checkpoints and removal authorizations it holds.
import { openedLeaf, parseJson, parseStrictJson, receiptsOf, reportIn, restartIn } from '@svc/proof'
import type { ReportPlan } from '@svc/report'
import { type BundleManifest, isoTime, type Report } from '@svc/schemas'
import { type Database, type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { entriesOfPeriod } from '../../ledger/log-range.js'
import { type FullLeaf, readRemovalAuthorizations } from '../../ledger/stored-leaves.js'
import { originOf } from '../publish/origin.js'
import { latestCheckpoint, type StoredCheckpoint } from '../publish/store/checkpoints.js'
import { readReport, readRestarts, workspaceName } from './store.js'

export interface PlanParts {
  readonly db: Database
  readonly clock: () => number
  readonly log_host: string
  /** The size that the signer last signed for an origin. */
  readonly signedSize: (origin: string) => number
}

export interface BundleRequest {
  /** ms since 1970, inclusive and exclusive; null: the beginning of the log, the last signed entry. */
  readonly from: number | null
  readonly to: number | null
  /** Size of an earlier checkpoint; the bundle proves that the log continues it. */
  readonly since: number | null
  /** The id of an issued report: the period is that of the report, and the bundle holds its leaf. */
  readonly report?: string | null
}

export interface Plan
  extends Pick<BundleManifest, 'origin' | 'org_id' | 'made_at' | 'workspace' | 'period' | 'entries' | 'records'> {
  readonly checkpoint: StoredCheckpoint
  /** Log indexes of entries outside the period that authorize a removal, record a restart, or are the leaf of the report. */
  readonly authority: readonly number[]
  /** Log index of the last removal authorization; -1 when the log has none. */
  readonly last_removal: number
  /** Signed sizes that were replaced by a restart. */
  readonly restarted_from: readonly number[]
  /** The report that the bundle is of, with the log index of its leaf; null without a report. */
  readonly report: (ReportPlan & { readonly log_index: number }) | null
}

/** Rejects with NOT_FOUND, UNAVAILABLE and TOO_LARGE as makeBundle does. */
export async function planBundle(parts: PlanParts, scope: Scope, request: BundleRequest): Promise<Plan> {
  return withSnapshot(parts.db, scope, async (tx) => {
    const { checkpoint, origin } = await signedCheckpoint(parts, scope, tx)
    const { size } = checkpoint
    const issued = request.report == null ? null : await issuedReport(scope, tx, request.report, size)
    const { from, to } = issued?.period ?? request
    const period = { from: timeText(from), to: timeText(to) }
    const entries = await entriesOfPeriod(scope, tx, period, size)
    const removals = await readRemovalAuthorizations(scope, tx)
    if (removals.some(({ log_index }) => log_index >= size))
      throw new PlatformError('UNAVAILABLE', 'a removal is not signed yet: try again shortly')
    const restarts = (await readRestarts(scope, tx)).filter(({ log_index }) => log_index < size)
    const workspace = await workspaceName(scope, tx)
    return {
      origin,
      ...(workspace !== null && workspace !== '' && { workspace }),
      org_id: scope.org_id,
      made_at: isoTime(parts.clock()),
      period,
      checkpoint,
      entries,
      records: { first: Math.max(0, entries.first - 1), end: Math.min(size, entries.end + 1) },
      last_removal: removals.at(-1)?.log_index ?? -1,
      authority: [...removals, ...restarts, ...(issued === null ? [] : [issued.leaf])]
        .map(({ log_index }) => log_index)
        .filter((index) => index < entries.first || index >= entries.end),
      restarted_from: restarts.flatMap(restartedFrom),
      report: issued?.report ?? null,
    }
  })
}

async function signedCheckpoint({ log_host, signedSize }: PlanParts, scope: Scope, tx: Transaction) {
  const checkpoint = await latestCheckpoint(scope, tx)
  if (checkpoint === null) throw new PlatformError('NOT_FOUND', 'no checkpoint has been published yet')
  const origin = originOf(log_host, scope.org_id, checkpoint.epoch)
  // Otherwise deleted checkpoints in the database would make the bundle state that no larger log was signed.
  if (checkpoint.size < signedSize(origin))
    throw new PlatformError(
      'UNAVAILABLE',
      'the published checkpoint is older than the last signed one: try again shortly, or see /readyz',
    )
  return { checkpoint, origin }
}

/** The leaf of the report with its period. Rejects with NOT_FOUND, and with UNAVAILABLE until the leaf is signed. */
async function issuedReport(scope: Scope, tx: Transaction, id: string, size: number) {
  const leaf = await readReport(scope, tx, id)
  const opened = leaf === null ? null : openedLeaf({ ...leaf, record: leaf.record ?? '', hash: leaf.leaf_hash })
  const issued = leaf === null || opened === null ? null : reportIn({ type: 'report' }, opened, leaf.log_index)
  if (leaf === null || issued === null)
    throw new PlatformError('NOT_FOUND', `no report \`${id}\` has been issued in this workspace`)
  if (leaf.log_index >= size)
    throw new PlatformError('UNAVAILABLE', 'the report is not signed yet: try again in a few seconds')
  const receipts = receiptsOf(issued)
  // Without an end of its own, a report reads entries that were received before its leaf.
  const to = Date.parse(receipts.to ?? isoTime(receivedAt(leaf) + 1))
  const { from, to: end, by, agent_ids, cut_off, root, log_index } = issued
  const read = { period: { from, to: end }, by, agent_ids, cut_off, root }
  const report = { id, format: issued.format as Report['format'], ...read, log_index }
  return { leaf, period: { from: Date.parse(receipts.from), to }, report }
}

/** ms since 1970. */
function receivedAt({ record }: FullLeaf): number {
  return Date.parse((parseJson(record ?? '{}') as { received_at?: string }).received_at ?? '')
}

/** The signed size that a restart leaf names. */
function restartedFrom({ log_index, body }: FullLeaf): number[] {
  const reading = parseStrictJson(body ?? '')
  if (reading.problem !== null || reading.value === null) return []
  const restart = restartIn({ type: 'event' }, reading.value as Readonly<Record<string, unknown>>, log_index)
  return restart === null ? [] : [restart.old_size]
}

function timeText(time: number | null): string | null {
  return time === null ? null : isoTime(time)
}
