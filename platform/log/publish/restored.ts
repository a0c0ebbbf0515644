// A log that is to go on after a restore: it is read again, and compared with what was signed for.
import { covers, openedLeaf, removalAuthorizationIn } from '@svc/proof'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { readRemovals } from '../../ledger/stored-leaves.js'
import { type Rereading, rereading } from './reread.js'
import { type EvidenceParts, type SignedEvidence, signedEvidence } from './signed-evidence.js'
import type { SignedSize } from './signed-state.js'
import { readProgress } from './store/checkpoints.js'
import { readRecords } from './store/tree.js'

/** Entries read at once. */
const pageSize = 500

/** Collects what was signed for, and begins to read the log again. */
export async function preparedReading(parts: EvidenceParts, scope: Scope, tx: Transaction) {
  const { size } = await readProgress(scope, tx)
  const evidence = await signedEvidence(parts, scope, tx, size)
  const pruned = (await readRemovals(scope, tx)).flatMap((leaf) => {
    const { record, log_index } = leaf
    const values = record === null ? null : openedLeaf({ ...leaf, record, hash: leaf.leaf_hash })
    if (record === null || values === null) return []
    const removal = removalAuthorizationIn(
      JSON.parse(record) as { type: string; received_at: string },
      values,
      log_index,
    )
    return removal?.type === 'prune' ? removal.spans : []
  })
  const wanted = new Set(evidence.sizes.map((one) => one.size))
  return { evidence, reading: rereading(wanted, (index) => covers(pruned, index)) }
}

export async function readPage(scope: Scope, tx: Transaction, reading: Rereading, end: number): Promise<void> {
  const page = { from: reading.size(), to: Math.min(end, reading.size() + pageSize) }
  reading.add(page, await readRecords(scope, tx, page))
}

export interface Comparison {
  /** The largest that was signed; null when nothing was. */
  readonly signed: SignedSize | null
  /** The largest that the log still continues, and those before it. */
  readonly kept: SignedSize | null
  readonly earlier: readonly SignedSize[]
  readonly is_changed: boolean
}

/** Compares what was read with what was signed. Throws CONFLICT for what has changed and is not accepted. */
export function comparison({ origin, sizes }: SignedEvidence, reading: Rereading, accept_changed: boolean): Comparison {
  const signed = sizes.at(-1) ?? null
  const reached = sizes.filter(({ size }) => size <= reading.size() && size > 0)
  const wrong = reached.find(({ size, root }) => reading.roots.get(size) !== root)
  const altered = reading.altered()
  const most = Math.min((wrong?.size ?? Number.POSITIVE_INFINITY) - 1, altered?.log_index ?? Number.POSITIVE_INFINITY)
  const holding = reached.filter(({ size }) => size <= most)
  const problem =
    wrong !== undefined
      ? `the first ${wrong.size} entries have the root ${reading.roots.get(wrong.size)} now, and ${wrong.root} was signed`
      : (altered?.problem ?? null)
  const is_changed = problem !== null
  if (is_changed && !accept_changed) throw changed(origin, signed, problem)
  return { signed, kept: holding.at(-1) ?? null, earlier: holding.slice(0, -1), is_changed }
}

function changed(origin: string, signed: SignedSize | null, problem: string): PlatformError {
  const was = signed === null ? 'nothing was signed for' : `${signed.size} entries were signed for, root ${signed.root}`
  return new PlatformError(
    'CONFLICT',
    `${origin}: entries that were signed for have changed: ${was}; ${problem}. Restore a backup that holds them as they ` +
      'were signed. If there is none, because the disk damaged them or because the log took entries after an older backup ' +
      'was restored, add --accept-changed-entries: the log records it, and everybody who verifies the log sees it',
  )
}
