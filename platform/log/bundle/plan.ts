// Plans a proof bundle: which entries, checkpoints and removal authorizations it holds.
import { parseStrictJson, restartIn } from '@svc/proof'
import { type BundleManifest, isoTime } from '@svc/schemas'
import { type Database, type Transaction, withSnapshot } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { indexOfTime } from '../../ledger/log-range.js'
import { type FullLeaf, readRemovalAuthorizations } from '../../ledger/stored-leaves.js'
import { originOf } from '../publish/origin.js'
import { latestCheckpoint, type StoredCheckpoint } from '../publish/store/checkpoints.js'
import { readRestarts, workspaceName } from './store.js'

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
}

export interface Plan
  extends Pick<BundleManifest, 'origin' | 'org_id' | 'made_at' | 'workspace' | 'period' | 'entries' | 'records'> {
  readonly checkpoint: StoredCheckpoint
  /** Entries outside the period that authorize a removal or record a restart. */
  readonly authority: readonly FullLeaf[]
  /** Log index of the last removal authorization; -1 when the log has none. */
  readonly last_removal: number
  /** Signed sizes that were replaced by a restart. */
  readonly restarted_from: readonly number[]
}

/** The maximum number of entries in a bundle: some gigabytes of records. */
const maxEntries = 1_000_000

/** Rejects with NOT_FOUND, UNAVAILABLE and TOO_LARGE as makeBundle does. */
export async function planBundle(parts: PlanParts, scope: Scope, request: BundleRequest): Promise<Plan> {
  return withSnapshot(parts.db, scope, async (tx) => {
    const { checkpoint, origin } = await signedCheckpoint(parts, scope, tx)
    const { size } = checkpoint
    const { period, entries } = await entriesOf(scope, tx, request, size)
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
      authority: [...removals, ...restarts]
        .sort((a, b) => a.log_index - b.log_index)
        .filter(({ log_index }) => log_index < entries.first || log_index >= entries.end),
      restarted_from: restarts.flatMap(restartedFrom),
    }
  })
}

async function signedCheckpoint({ log_host, signedSize }: PlanParts, scope: Scope, tx: Transaction) {
  const checkpoint = await latestCheckpoint(scope, tx)
  if (checkpoint === null) throw new PlatformError('NOT_FOUND', 'no checkpoint has been published yet')
  const origin = originOf(log_host, scope.org_id, checkpoint.incarnation)
  // Otherwise deleted checkpoints in the database would make the bundle state that no larger log was signed.
  if (checkpoint.size < signedSize(origin))
    throw new PlatformError(
      'UNAVAILABLE',
      'the published checkpoint is older than the last signed one: try again shortly, or see /readyz',
    )
  return { checkpoint, origin }
}

async function entriesOf(scope: Scope, tx: Transaction, request: BundleRequest, size: number) {
  const period = { from: timeText(request.from), to: timeText(request.to) }
  const first = period.from === null ? 0 : await indexOfTime(scope, tx, period.from, size)
  const end = period.to === null ? size : Math.max(first, await indexOfTime(scope, tx, period.to, size))
  if (end - first > maxEntries)
    throw new PlatformError(
      'TOO_LARGE',
      `the period has ${end - first} entries, more than ${maxEntries}: choose a shorter one`,
    )
  return { period, entries: { first, end } }
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
