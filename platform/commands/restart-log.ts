// After a legitimate restore from a backup: the log goes on under another name, and says why (log.md §5).
import { PlatformError } from '../errors.js'
import { originOf } from '../log/publish.js'
import type { LogSigner } from '../log/signer.js'
import { readProgress, setIncarnation } from '../store/checkpoints.js'
import { type Database, withTransaction, withUnscopedTransaction } from '../store/db.js'
import { recordEvents } from '../store/events.js'
import { lockLog } from '../store/log.js'
import { organizationsUnscoped } from '../store/organizations.js'
import { scopeOf } from '../store/scope.js'

export interface RestartedLog {
  readonly org_id: string
  /** What its checkpoints are called from now on. */
  readonly origin: string
  /** Entries that were signed for under the old name, and those there are now. */
  readonly signed: number
  readonly size: number
}

export interface RestartParts {
  readonly db: Database
  readonly signer: LogSigner
  readonly log_host: string
  readonly clock: () => number
}

/**
 * Begins another incarnation of the logs of these organizations, or of all: the event that says so names what was signed
 * for last, and is a leaf of the log. Nothing binds the new one to what came after the backup, so that only an operator may
 * do this, and whoever trusts the log sees its new name.
 */
export async function restartLogs(parts: RestartParts, org_id: string | null, reason: string): Promise<RestartedLog[]> {
  const { db } = parts
  const all = await withUnscopedTransaction(db, organizationsUnscoped)
  const chosen = org_id === null ? all : all.filter((one) => one === org_id)
  if (chosen.length === 0) throw new PlatformError('NOT_FOUND', `no organization \`${org_id}\``)
  const restarted: RestartedLog[] = []
  for (const one of chosen) restarted.push(await restartLog(parts, one, reason))
  return restarted
}

async function restartLog({ db, signer, log_host, clock }: RestartParts, org_id: string, reason: string) {
  const scope = scopeOf(org_id, { kind: 'operator', id: 'local' })
  const now = clock()
  const restarted = await withTransaction(db, scope, async (tx) => {
    await lockLog(scope, tx)
    const { incarnation, size } = await readProgress(scope, tx)
    const known = Math.max(incarnation, signer.incarnationOf(org_id))
    const old = originOf(log_host, org_id, known)
    const origin = originOf(log_host, org_id, known + 1)
    const signed = signer.last(old)
    await setIncarnation(scope, tx, known + 1)
    const data = { reason, origin, old_origin: old, old_size: signed?.size ?? 0, old_root: signed?.root ?? null, size }
    await recordEvents(scope, tx, now, [{ kind: 'log.restarted', subject_kind: 'log', subject_id: org_id, data }])
    return { org_id, origin, signed: signed?.size ?? 0, size, incarnation: known + 1 }
  })
  // The database first: what it says and the signer does not know is refused, and can be begun again.
  signer.begin(org_id, restarted.incarnation)
  return restarted
}
