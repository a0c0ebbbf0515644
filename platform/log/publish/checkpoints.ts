// Background publication of checkpoints: every few seconds for a growing log, hourly for an idle one, in one process at a time.
import type { Logger } from 'pino'
import { organizationsUnscoped } from '../../access/store/organizations.js'
import { type Database, withSnapshot, withTransaction, withUnscopedTransaction } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { queueDeliveries } from '../../incidents/actions/triggers.js'
import { startIntervalWorker } from '../../jobs/interval-worker.js'
import type { Send } from '../../jobs/job.js'
import { recordEvents } from '../../ledger/events.js'
import type { Anchors } from './anchors/anchors.js'
import { startAnswering, startAsking } from './confirmations.js'
import { reportFailures } from './failures.js'
import { originOf } from './origin.js'
import { assertContinued, type Publishing, publishCheckpoint } from './publish.js'
import { ForkRejected, LogBehind, type LogSigner } from './signer.js'
import {
  dueForCheckpointUnscoped,
  latestCheckpoint,
  logIdentityUnscoped,
  type StoredCheckpoint,
  setHeld,
} from './store/checkpoints.js'
import type { Witnesses } from './witnesses.js'

interface CheckpointParts {
  readonly db: Database
  readonly signer: LogSigner
  readonly clock: () => number
  readonly logger: Logger
  readonly send: Send
  /** The name of this installation, unless the database already holds one. */
  readonly log_host: string
  readonly witnesses: Witnesses
  readonly anchors: Anchors
  /** The interval between checkpoints of a growing log; 0 publishes none. */
  readonly every_seconds: number
  /** True if the operator has declared that no process has the signing key. */
  readonly is_key_lost: boolean
  /** The command of this program as the operator types it, such as `npx --no-install svc-platform`. */
  readonly command: string
}

export interface Checkpoints {
  /** The name that the database holds. */
  readonly log_host: string
  /** True if this process holds the signing key of this database. */
  readonly own: boolean
  /** Why checkpoints are rejected, by organization. */
  readonly rejected: ReadonlyMap<string, string>
  readonly close: () => Promise<void>
}

/** The number of the advisory lock; unique to this lock. */
export const signingLock = 7_283_002
/** The interval between checkpoints of an idle log. */
const idleIntervalMs = 3_600_000

/** Starts publishing. A process with another key than the one in the database logs a warning and publishes nothing. */
export async function startCheckpoints(parts: CheckpointParts): Promise<Checkpoints> {
  const { db, signer, logger, every_seconds } = parts
  const { public_key } = signer
  const identity = await withUnscopedTransaction(db, (tx) =>
    logIdentityUnscoped(tx, { log_host: parts.log_host, public_key }),
  )
  const { log_host } = identity
  const rejected = new Map<string, string>()
  const own = signer.knows(identity.public_key)
  if (!own) logger.warn('the key in `SVC_LOG_KEY_DIR` does not sign this log: this process publishes no checkpoints')
  if (!own) return { log_host, own, rejected, close: await confirmedByOthers(parts) }
  const publishing = { ...parts, log_host }
  const compare = () => db.exclusively(signingLock, () => reportRestored(publishing, rejected))
  await compare()
  const answering = db.kind === 'postgresql' ? startAnswering(parts, compare) : null
  if (every_seconds === 0) return { log_host, own, rejected, close: async () => answering?.close() }
  const run = async (closed: () => boolean) => {
    const published = await db.exclusively(signingLock, () => publishDue(publishing, rejected, closed))
    for (const { scope, checkpoint } of published) {
      await parts.witnesses.cosign(scope, checkpoint)
      const latest = await withSnapshot(db, scope, (tx) => latestCheckpoint(scope, tx))
      const { epoch, size, note } = latest ?? checkpoint
      await parts.anchors.store({ origin: originOf(log_host, scope.org_id, epoch), size, note })
    }
    failures.ended()
  }
  const failures = reportFailures(logger, 'checkpoints could not be published')
  const worker = startIntervalWorker(every_seconds * 1000, run, failures.failed)
  const close = async () => {
    await answering?.close()
    await worker.close()
  }
  return { log_host, own, rejected, close }
}

/** An embedded database has one process: without the key, no other process can confirm its logs. */
async function confirmedByOthers(parts: CheckpointParts): Promise<() => Promise<void>> {
  if (parts.db.kind === 'pglite' || parts.is_key_lost) return async () => undefined
  return (await startAsking(parts)).close
}

interface Published {
  readonly scope: Scope
  readonly checkpoint: StoredCheckpoint
}

async function publishDue(
  publishing: Publishing & CheckpointParts,
  rejected: Map<string, string>,
  closed: () => boolean,
): Promise<Published[]> {
  const { db, clock } = publishing
  const due = await withUnscopedTransaction(db, (tx) => dueForCheckpointUnscoped(tx, clock() - idleIntervalMs))
  const published: Published[] = []
  for (const org_id of due) {
    if (closed()) break
    const scope = scopeOf(org_id, { kind: 'system', id: 'checkpoints' })
    try {
      published.push({ scope, checkpoint: await catchUp(publishing, scope, closed) })
      rejected.delete(org_id)
    } catch (error) {
      await reportRejection(publishing, scope, error, rejected)
    }
  }
  return published
}

/** Reports at the start, before the log grows again, that a backup of the database was restored. */
async function reportRestored(publishing: Publishing & CheckpointParts, rejected: Map<string, string>): Promise<void> {
  for (const org_id of await withUnscopedTransaction(publishing.db, organizationsUnscoped)) {
    const scope = scopeOf(org_id, { kind: 'system', id: 'checkpoints' })
    try {
      await assertContinued(publishing, scope)
      await withTransaction(publishing.db, scope, (tx) => setHeld(scope, tx, null))
    } catch (error) {
      await reportRejection(publishing, scope, error, rejected)
    }
  }
}

/** Signs a long backlog in several checkpoints and returns the last, which witnesses and anchors receive. */
async function catchUp(publishing: Publishing, scope: Scope, closed: () => boolean): Promise<StoredCheckpoint> {
  for (;;) {
    const { checkpoint, is_last } = await publishCheckpoint(publishing, scope)
    if (is_last || closed()) return checkpoint
  }
}

/** Logs and records each reason once. A log that is behind its signer is held instead: an event would be a fork of it. */
async function reportRejection(
  { db, clock, logger, send, command }: CheckpointParts,
  scope: Scope,
  error: unknown,
  rejected: Map<string, string>,
): Promise<void> {
  if (!(error instanceof ForkRejected)) throw error
  const { org_id } = scope
  const reason = error.message
  const is_behind = error instanceof LogBehind
  if (rejected.get(org_id) === reason) {
    // Another restore has brought back a log that is not held.
    if (is_behind) await withTransaction(db, scope, (tx) => setHeld(scope, tx, reason))
    return
  }
  rejected.set(org_id, reason)
  const run = db.kind === 'pglite' ? 'stop the platform and run' : 'run'
  const restart = `${command} new-epoch --org ${org_id} --reason 'restored a backup'`
  logger.error(
    { org_id, reason },
    `checkpoints are rejected${is_behind ? ' and no entry is accepted' : ''}: ${reason}. If a backup of the database was restored on purpose, ${run}: ${restart}`,
  )
  const event = { kind: 'log.fork_refused', subject_kind: 'log', subject_id: org_id, data: { reason } }
  await withTransaction(db, scope, async (tx) => {
    // A held log cannot be locked; it is held again below.
    if (is_behind) await setHeld(scope, tx, null)
    else await recordEvents(scope, tx, clock(), [event])
    const latest = await latestCheckpoint(scope, tx)
    // Each process and each start words it again; the checkpoint changes only once the log is valid.
    const once = `after checkpoint ${latest?.epoch ?? 0}/${latest?.size ?? 0}`
    const subject = { subject_kind: 'log', subject_id: org_id, data: { log: { org_id, reason } } } as const
    await queueDeliveries({ send }, scope, tx, clock(), [{ on: 'log.invalid', ...subject, once }])
    if (is_behind) await setHeld(scope, tx, reason)
  })
}
