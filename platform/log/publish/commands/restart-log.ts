// Begins a new epoch of a log after a restore from a backup: its checkpoints have a new origin, and a leaf records the reason. The
// whole log is read again first, so that a rewritten log is not signed.
import { organizationsUnscoped } from '../../../access/store/organizations.js'
import { type Database, withSnapshot, withTransaction, withUnscopedTransaction } from '../../../db/db.js'
import { type Scope, scopeOf } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { recordEvents } from '../../../ledger/events.js'
import { lockLog } from '../../../ledger/log.js'
import { signingLock } from '../checkpoints.js'
import { originOf } from '../origin.js'
import type { Rereading } from '../reread.js'
import { type Comparison, comparison, prepareRereading, readPage } from '../restored.js'
import type { EvidenceParts, SignedEvidence } from '../signed-evidence.js'
import { stateAfter } from '../signed-state.js'
import { insertCheckpoint, readProgress, setEpoch, setHeld } from '../store/checkpoints.js'
import { insertTiles } from '../store/tree.js'

export interface RestartedLog {
  readonly org_id: string
  /** The origin of its checkpoints from now on. */
  readonly origin: string
  /** Signed entries of the previous epoch. */
  readonly signed: number
  /** Entries at the restart. */
  readonly size: number
  /** Signed entries that the log no longer holds. */
  readonly missing: number
  /** Entries that match a signed checkpoint. */
  readonly kept: number
  /** True if signed entries have changed, as the operator has accepted. */
  readonly is_changed: boolean
}

interface RestartParts extends EvidenceParts {
  readonly db: Database
  readonly clock: () => number
}

interface RestartRequest {
  readonly reason: string
  readonly accept_changed: boolean
}

/**
 * Begins a new epoch of the log of one organization, or of all (`null`). The event `log.restarted` records the last signed
 * checkpoint. Rejects with CONFLICT when signed entries have changed and that is not accepted, and with NOT_FOUND for an
 * unknown organization.
 */
export async function restartLogs(
  parts: RestartParts,
  org_id: string | null,
  request: RestartRequest,
): Promise<RestartedLog[]> {
  const { db } = parts
  const all = await withUnscopedTransaction(db, organizationsUnscoped)
  const chosen = org_id === null ? all : all.filter((one) => one === org_id)
  if (chosen.length === 0) throw new PlatformError('NOT_FOUND', `no organization \`${org_id}\``)
  const restarted: RestartedLog[] = []
  for (const one of chosen) {
    const scope = scopeOf(one, { kind: 'operator', id: 'local' })
    restarted.push(await db.exclusively(signingLock, () => restartLog(parts, scope, request)))
  }
  return restarted
}

async function restartLog(parts: RestartParts, scope: Scope, request: RestartRequest): Promise<RestartedLog> {
  const { db, signer } = parts
  const { org_id } = scope
  const { evidence, reading } = await withSnapshot(db, scope, (tx) => prepareRereading(parts, scope, tx))
  const { size: sizeBefore } = await withSnapshot(db, scope, (tx) => readProgress(scope, tx))
  // Most of the log is read without its lock, which blocks all logging.
  while (reading.size() < sizeBefore) await withSnapshot(db, scope, (tx) => readPage(scope, tx, reading, sizeBefore))
  const epoch = evidence.epoch + 1
  const origin = originOf(parts.log_host, org_id, epoch)
  const compared = await recordRestart(parts, scope, request, { evidence, reading, epoch, origin })
  // The database changes first: the signer rejects an epoch that it does not know, and the command can be run again.
  const { kept, signed, size, is_changed } = compared
  const tree = { size: reading.size(), root: reading.root() }
  const before = kept === null ? null : { ...kept, origin, earlier: compared.earlier }
  signer.beginEpoch(org_id, epoch, stateAfter(before, { origin, ...tree }))
  await publish(parts, scope, { origin, epoch, ...tree }, reading)
  const missing = Math.max(0, (signed?.size ?? 0) - size)
  return { org_id, origin, signed: signed?.size ?? 0, size, missing, kept: kept?.size ?? 0, is_changed }
}

interface NewEpoch {
  readonly evidence: SignedEvidence
  readonly reading: Rereading
  readonly epoch: number
  readonly origin: string
}

/** Reads the rest of the log under its lock, compares it with the signed checkpoints and records the new epoch. */
async function recordRestart(
  { db, clock }: RestartParts,
  scope: Scope,
  request: RestartRequest,
  { evidence, reading, epoch, origin }: NewEpoch,
): Promise<Comparison & { readonly size: number }> {
  return withTransaction(db, scope, async (tx) => {
    await setHeld(scope, tx, null)
    const { size } = await lockLog(scope, tx)
    while (reading.size() < size) await readPage(scope, tx, reading, size)
    const compared = comparison(evidence, reading, request.accept_changed)
    await setEpoch(scope, tx, epoch)
    const { signed, kept, is_changed } = compared
    const data = {
      reason: request.reason,
      origin,
      old_origin: evidence.origin,
      old_size: signed?.size ?? 0,
      old_root: signed?.root ?? null,
      size,
      kept_size: kept?.size ?? 0,
      accepted_changed_entries: is_changed,
    }
    const event = { kind: 'log.restarted', subject_kind: 'log', subject_id: scope.org_id, data }
    await recordEvents(scope, tx, clock(), [event])
    const { size: end } = await readProgress(scope, tx)
    while (reading.size() < end) await readPage(scope, tx, reading, end)
    return { ...compared, size }
  })
}

/** Publishes the first checkpoint of the epoch, over the tree that was read. */
async function publish(
  { db, signer, clock }: RestartParts,
  scope: Scope,
  checkpoint: { readonly origin: string; readonly epoch: number; readonly size: number; readonly root: string },
  { tiles }: Rereading,
): Promise<void> {
  const { origin, epoch, size, root } = checkpoint
  await withTransaction(db, scope, async (tx) => {
    await insertTiles(scope, tx, tiles)
    const note = signer.sign({ origin, size, root: Buffer.from(root, 'hex') }, [])
    await insertCheckpoint(scope, tx, clock(), { epoch, size, root, note })
  })
}
