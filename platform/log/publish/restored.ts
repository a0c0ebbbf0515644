// Compares a restored log, read again, with its signed checkpoints.
import { covers, openedLeaf, parseJson, removalAuthorizationIn } from '@svc/proof'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { readRemovalAuthorizations } from '../../ledger/stored-leaves.js'
import { type Rereading, startRereading } from './reread.js'
import { type EvidenceParts, type SignedEvidence, signedEvidence } from './signed-evidence.js'
import type { SignedSize } from './signed-state.js'
import { readProgress } from './store/checkpoints.js'
import { readRecords } from './store/tree.js'

/** Entries per page. */
const pageSize = 500

/** Collects the signed checkpoints and prepares to read the log again. */
export async function prepareRereading(parts: EvidenceParts, scope: Scope, tx: Transaction) {
  const { size } = await readProgress(scope, tx)
  const evidence = await signedEvidence(parts, scope, tx, size)
  const pruned = (await readRemovalAuthorizations(scope, tx)).flatMap((leaf) => {
    const { record, log_index } = leaf
    const values = record === null ? null : openedLeaf({ ...leaf, record, hash: leaf.leaf_hash })
    if (record === null || values === null) return []
    const removal = removalAuthorizationIn(
      parseJson(record) as { type: string; received_at: string },
      values,
      log_index,
    )
    return removal?.type === 'prune' ? removal.spans : []
  })
  const wanted = new Set(evidence.sizes.map((one) => one.size))
  return { evidence, reading: startRereading(wanted, (index) => covers(pruned, index)) }
}

/** Reads the next page of the log, up to `end`. */
export async function readPage(scope: Scope, tx: Transaction, reading: Rereading, end: number): Promise<void> {
  const page = { from: reading.size(), to: Math.min(end, reading.size() + pageSize) }
  reading.add(page, await readRecords(scope, tx, page))
}

export interface Comparison {
  /** The largest signed size; null when no checkpoint was signed. */
  readonly signed: SignedSize | null
  /** The largest signed size that the log continues, and the smaller ones. */
  readonly kept: SignedSize | null
  readonly earlier: readonly SignedSize[]
  readonly is_changed: boolean
}

/** Compares the log with its signed checkpoints. Throws CONFLICT when signed entries have changed, unless accepted. */
export function comparison({ origin, sizes }: SignedEvidence, reading: Rereading, accept_changed: boolean): Comparison {
  const signed = sizes.at(-1) ?? null
  const reached = sizes.filter(({ size }) => size <= reading.size() && size > 0)
  const wrong = reached.find(({ size, root }) => reading.roots.get(size) !== root)
  const altered = reading.altered()
  const maxKept = Math.min(
    (wrong?.size ?? Number.POSITIVE_INFINITY) - 1,
    altered?.log_index ?? Number.POSITIVE_INFINITY,
  )
  const kept = reached.filter(({ size }) => size <= maxKept)
  const problem =
    wrong !== undefined
      ? `the first ${wrong.size} entries have the root ${reading.roots.get(wrong.size)} instead of the signed ${wrong.root}`
      : (altered?.problem ?? null)
  const is_changed = problem !== null
  if (is_changed && !accept_changed) throw changedEntries(origin, signed, problem)
  return { signed, kept: kept.at(-1) ?? null, earlier: kept.slice(0, -1), is_changed }
}

function changedEntries(origin: string, signed: SignedSize | null, problem: string): PlatformError {
  const was = signed === null ? 'no checkpoint was signed' : `${signed.size} entries were signed, root ${signed.root}`
  return new PlatformError(
    'CONFLICT',
    `${origin}: signed entries have changed: ${was}; ${problem}. Restore a backup that holds the signed entries. If none ` +
      'does, because the disk damaged them or because the log grew after an older backup was restored, add ' +
      '--accept-changed-entries: the log records it, and every verifier of the log reports it',
  )
}
