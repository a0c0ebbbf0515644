// Checkpoints in the background: every few seconds of a growing log, hourly of one at rest, by one process among many.
import type { Logger } from 'pino'
import { organizationsUnscoped } from '../../access/store/organizations.js'
import { type Database, withSnapshot, withTransaction, withUnscopedTransaction } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { startIntervalWorker } from '../../jobs/interval-worker.js'
import { recordEvents } from '../../ledger/events.js'
import type { Anchors } from './anchors/anchors.js'
import { originOf, type Publishing, publishCheckpoint, refuseRestored } from './publish.js'
import { ForkRefused, type LogSigner } from './signer.js'
import {
  dueForCheckpointUnscoped,
  latestCheckpoint,
  logIdentityUnscoped,
  type StoredCheckpoint,
} from './store/checkpoints.js'
import type { Witnesses } from './witnesses.js'

export interface CheckpointParts {
  readonly db: Database
  readonly signer: LogSigner
  readonly clock: () => number
  readonly logger: Logger
  /** What this installation calls itself unless another name is fixed already. */
  readonly log_host: string
  readonly witnesses: Witnesses
  readonly anchors: Anchors
  /** 0: never. */
  readonly every_seconds: number
  /** How the operator types the command of this program, such as `npx --no-install svc-platform`. */
  readonly command: string
}

export interface Checkpoints {
  /** Fixed for this database. */
  readonly log_host: string
  /** Whether this process holds the key that signs this log. */
  readonly own: boolean
  /** Why checkpoints are refused, by organization; empty when none are. */
  readonly refused: ReadonlyMap<string, string>
  readonly close: () => Promise<void>
}

/** Any number that only this program locks. */
export const signingLock = 7_283_002
/** How long a log at rest goes without a checkpoint, ms. */
const atRest = 3_600_000

/** Starts publishing. A process with another key than the first one's publishes nothing, and says so. */
export async function startCheckpoints(parts: CheckpointParts): Promise<Checkpoints> {
  const { db, signer, logger, every_seconds } = parts
  const { public_key } = signer
  const identity = await withUnscopedTransaction(db, (tx) =>
    logIdentityUnscoped(tx, { log_host: parts.log_host, public_key }),
  )
  const { log_host } = identity
  const refused = new Map<string, string>()
  const own = signer.knows(identity.public_key)
  if (!own)
    logger.warn('this process has another signing key than the log: it publishes no checkpoints; see SVC_LOG_KEY_DIR')
  if (!own) return { log_host, own, refused, close: async () => undefined }
  const publishing = { ...parts, log_host }
  await db.exclusively(signingLock, () => tellRestored(publishing, refused))
  if (every_seconds === 0) return { log_host, own, refused, close: async () => undefined }
  const turn = async (closed: () => boolean) => {
    const made = await db.exclusively(signingLock, () => publishDue(publishing, refused, closed))
    for (const { scope, checkpoint } of made) {
      await parts.witnesses.show(scope, checkpoint)
      const latest = await withSnapshot(db, scope, (tx) => latestCheckpoint(scope, tx))
      const { incarnation, size, note } = latest ?? checkpoint
      await parts.anchors.keep({ origin: originOf(log_host, scope.org_id, incarnation), size, note })
    }
  }
  const failed = (error: unknown) => logger.error({ err: error }, 'checkpoints could not be published')
  const { close } = startIntervalWorker(every_seconds * 1000, turn, failed)
  return { log_host, own, refused, close }
}

interface Published {
  readonly scope: Scope
  readonly checkpoint: StoredCheckpoint
}

async function publishDue(
  publishing: Publishing & CheckpointParts,
  refused: Map<string, string>,
  closed: () => boolean,
): Promise<Published[]> {
  const { db, clock } = publishing
  const due = await withUnscopedTransaction(db, (tx) => dueForCheckpointUnscoped(tx, clock() - atRest))
  const made: Published[] = []
  for (const org_id of due) {
    if (closed()) break
    const scope = scopeOf(org_id, { kind: 'system', id: 'checkpoints' })
    try {
      made.push({ scope, checkpoint: await caughtUp(publishing, scope, closed) })
      refused.delete(org_id)
    } catch (error) {
      if (!(error instanceof ForkRefused)) throw error
      await tellRefusal(publishing, scope, error.message, refused)
    }
  }
  return made
}

/** A backup that was restored under the signer is noticed at the start, and not when the log next grows. */
async function tellRestored(publishing: Publishing & CheckpointParts, refused: Map<string, string>): Promise<void> {
  for (const org_id of await withUnscopedTransaction(publishing.db, organizationsUnscoped)) {
    const scope = scopeOf(org_id, { kind: 'system', id: 'checkpoints' })
    await refuseRestored(publishing, scope).catch(async (error: unknown) => {
      if (!(error instanceof ForkRefused)) throw error
      await tellRefusal(publishing, scope, error.message, refused)
    })
  }
}

/** A long backlog is signed for bit by bit, and the last of its checkpoints is the one that others are shown. */
async function caughtUp(publishing: Publishing, scope: Scope, closed: () => boolean): Promise<StoredCheckpoint> {
  for (;;) {
    const { checkpoint, is_last } = await publishCheckpoint(publishing, scope)
    if (is_last || closed()) return checkpoint
  }
}

/** Once for each reason: it stays until somebody has looked. */
async function tellRefusal(
  { db, clock, logger, command }: CheckpointParts,
  scope: Scope,
  reason: string,
  refused: Map<string, string>,
): Promise<void> {
  const { org_id } = scope
  if (refused.get(org_id) === reason) return
  refused.set(org_id, reason)
  const run = db.kind === 'pglite' ? 'stop the platform and run' : 'run'
  const restart = `${command} new-incarnation --org ${org_id} --reason 'restored a backup'`
  logger.error(
    { org_id, reason },
    `checkpoints are refused: ${reason}. If a backup of the database was restored on purpose, ${run}: ${restart}`,
  )
  const event = { kind: 'log.fork_refused', subject_kind: 'log', subject_id: org_id, data: { reason } }
  await withTransaction(db, scope, (tx) => recordEvents(scope, tx, clock(), [event]))
}
