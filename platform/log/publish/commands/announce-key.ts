// Announces a new signing key in every log. The old key signs the announcement, so its verifiers can trust the new key.

import { formatVerifier, signerOf } from '@svc/proof'
import { isoTime } from '@svc/schemas'
import { organizationsUnscoped } from '../../../access/store/organizations.js'
import { type Database, withTransaction, withUnscopedTransaction } from '../../../db/db.js'
import { type Scope, scopeOf } from '../../../db/scope.js'
import { recordEvents } from '../../../ledger/events.js'
import { appendLeaves } from '../../../ledger/leaves.js'
import { lockLog } from '../../../ledger/log.js'
import { originOf } from '../origin.js'
import type { LogSigner } from '../signer.js'
import { readProgress } from '../store/checkpoints.js'

interface Rotation {
  /** ms since 1970, as is `until`. */
  readonly now: number
  /** When the previous key ceases to sign. */
  readonly until: number
  readonly reason: string
  /** The seed of the previous key. */
  readonly previous: Uint8Array
}

interface AnnouncedKey {
  readonly org_id: string
  readonly origin: string
  /** The new key as a trust policy names it. */
  readonly key: string
}

interface Announcing {
  readonly db: Database
  readonly signer: LogSigner
  readonly log_host: string
}

/** Appends a `key` leaf to the log of every organization. */
export async function announceKey(parts: Announcing, rotation: Rotation): Promise<AnnouncedKey[]> {
  const announced: AnnouncedKey[] = []
  for (const org_id of await withUnscopedTransaction(parts.db, organizationsUnscoped))
    announced.push(await announceIn(parts, scopeOf(org_id, { kind: 'operator', id: 'local' }), rotation))
  return announced
}

/** The same for one organization. */
export function announceIn(
  { db, signer, log_host }: Announcing,
  scope: Scope,
  { now, until, reason, previous }: Rotation,
): Promise<AnnouncedKey> {
  const { org_id } = scope
  return withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    const { epoch } = await readProgress(scope, tx)
    const origin = originOf(log_host, org_id, epoch)
    const key = signer.verifierOf(origin)
    const data = {
      key,
      previous: formatVerifier(signerOf(origin, 'note', previous).verifier),
      reason,
      by: 'operator:local',
      at: isoTime(now),
      until: isoTime(until),
    }
    await appendLeaves(scope, tx, now, [{ type: 'key', subject_id: origin, data: { key: data } }])
    await recordEvents(scope, tx, now, [{ kind: 'log.key_rotated', subject_kind: 'log', subject_id: org_id, data }])
    return { org_id, origin, key }
  })
}
