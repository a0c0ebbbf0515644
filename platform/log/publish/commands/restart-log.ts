// After a legitimate restore from a backup: the log goes on under another name, and its restart leaf says why. All of it is
// read again first, so that a log which was rewritten is not signed for anew.

import { organizationsUnscoped } from '../../../access/store/organizations.js'
import { type Database, withSnapshot, withTransaction, withUnscopedTransaction } from '../../../db/db.js'
import { type Scope, scopeOf } from '../../../db/scope.js'
import { PlatformError } from '../../../errors.js'
import { recordEvents } from '../../../ledger/events.js'
import { lockLog } from '../../../ledger/log.js'
import { signingLock } from '../checkpoints.js'
import { originOf } from '../publish.js'
import type { Rereading } from '../reread.js'
import { comparison, preparedReading, readPage } from '../restored.js'
import type { EvidenceParts } from '../signed-evidence.js'
import { stateAfter } from '../signed-state.js'
import { insertCheckpoint, readProgress, setIncarnation } from '../store/checkpoints.js'
import { insertTiles } from '../store/tree.js'

export interface RestartedLog {
  readonly org_id: string
  /** What its checkpoints are called from now on. */
  readonly origin: string
  /** Entries that were signed for under the old name, and those there were when it was restarted. */
  readonly signed: number
  readonly size: number
  /** Signed entries that are not there any more. */
  readonly gone: number
  /** Entries that are known to be as they were signed. */
  readonly kept: number
  /** Whether entries that were signed for have changed, which the operator has accepted. */
  readonly is_changed: boolean
}

export interface RestartParts extends EvidenceParts {
  readonly db: Database
  readonly clock: () => number
}

export interface RestartRequest {
  readonly reason: string
  readonly accept_changed: boolean
}

/**
 * Begins another incarnation of the logs of these organizations, or of all: the event that says so names what was signed
 * for last, and is a leaf of the log. Rejects with CONFLICT when entries that were signed for have changed and that is not
 * accepted, and with NOT_FOUND for an unknown organization.
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
  const { db, signer, clock } = parts
  const { org_id } = scope
  const now = clock()
  const { evidence, reading } = await withSnapshot(db, scope, (tx) => preparedReading(parts, scope, tx))
  const { size: before } = await withSnapshot(db, scope, (tx) => readProgress(scope, tx))
  // Most of it without the log's lock, which stops everything that is logged.
  while (reading.size() < before) await withSnapshot(db, scope, (tx) => readPage(scope, tx, reading, before))
  const incarnation = evidence.incarnation + 1
  const origin = originOf(parts.log_host, org_id, incarnation)
  const compared = await withTransaction(db, scope, async (tx) => {
    const { size } = await lockLog(scope, tx)
    while (reading.size() < size) await readPage(scope, tx, reading, size)
    const compared = comparison(evidence, reading, request.accept_changed)
    await setIncarnation(scope, tx, incarnation)
    const { signed, kept, is_changed } = compared
    const data = {
      ...{ reason: request.reason, origin, old_origin: evidence.origin },
      ...{ old_size: signed?.size ?? 0, old_root: signed?.root ?? null, size },
      ...{ kept_size: kept?.size ?? 0, accepted_changed_entries: is_changed },
    }
    await recordEvents(scope, tx, now, [{ kind: 'log.restarted', subject_kind: 'log', subject_id: org_id, data }])
    const { size: end } = await readProgress(scope, tx)
    while (reading.size() < end) await readPage(scope, tx, reading, end)
    return { ...compared, size }
  })
  // The database first: what it says and the signer does not know is refused, and can be begun again.
  const { kept, signed, size, is_changed } = compared
  const tree = { size: reading.size(), root: reading.root() }
  signer.begin(
    org_id,
    incarnation,
    stateAfter(kept === null ? null : { ...kept, origin, earlier: compared.earlier }, { origin, ...tree }),
  )
  await publish(parts, scope, { origin, incarnation, ...tree }, reading)
  const gone = Math.max(0, (signed?.size ?? 0) - size)
  return { org_id, origin, signed: signed?.size ?? 0, size, gone, kept: kept?.size ?? 0, is_changed }
}

/** The first checkpoint of the new incarnation, over the tree that was read. */
async function publish(
  { db, signer, clock }: RestartParts,
  scope: Scope,
  made: { readonly origin: string; readonly incarnation: number; readonly size: number; readonly root: string },
  { tiles }: Rereading,
): Promise<void> {
  const { origin, incarnation, size, root } = made
  await withTransaction(db, scope, async (tx) => {
    await insertTiles(scope, tx, tiles)
    const note = signer.sign({ origin, size, root: Buffer.from(root, 'hex') }, [])
    await insertCheckpoint(scope, tx, clock(), { incarnation, size, root, note })
  })
}
