// The log in this process: keys, checkpoints, bundles and retention.
import { hostname } from 'node:os'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { type Database, withUnscopedTransaction } from '../db/db.js'
import { gauge, type Metric, type MetricSource } from '../http/exposition.js'
import type { Job, Send } from '../jobs/job.js'
import type { Outgoing } from '../outgoing/outgoing.js'
import type { ReadReport } from './bundle/bundle.js'
import { type Bundles, createBundles, removeStaleBundles } from './bundle/bundles.js'
import type { Anchors } from './publish/anchors/anchors.js'
import { startCheckpoints } from './publish/checkpoints.js'
import type { LogIdentity } from './publish/identity.js'
import { openSigner } from './publish/signer.js'
import { oldestNotCoveredUnscoped } from './publish/store/checkpoints.js'
import { createWitnesses, type WitnessAddress } from './publish/witnesses.js'
import { createRetention, type Retention } from './retention/retention.js'

interface LogParts {
  readonly db: Database
  readonly clock: () => number
  readonly logger: Logger
  readonly config: Config
  readonly send: Send
  readonly outgoing: Outgoing
  readonly anchors: Anchors
  readonly witnesses: readonly WitnessAddress[]
  readonly readReport: ReadReport
  /** The command of this program as the operator types it, such as `npx --no-install svc-platform`. */
  readonly command: string
}

export interface Log {
  readonly identity: LogIdentity
  /** Why checkpoints are rejected, by organization. */
  readonly rejected: ReadonlyMap<string, string>
  /** Rejects with UNAVAILABLE. */
  readonly metrics: MetricSource
  readonly bundles: Bundles
  readonly retention: Retention
  /** True if this process holds the signing key of the log. */
  readonly holds_key: boolean
  /** Empty in a process without the signing key of the log. */
  readonly jobs: readonly Job[]
  readonly close: () => Promise<void>
}

/**
 * Starts to publish checkpoints. Call it before anything is written: a log that is behind its signer is held. It sends jobs
 * of actions, which answer that. A process without the signing key of the log neither publishes nor prunes.
 */
export async function openLog({ db, clock, logger, config, readReport, ...parts }: LogParts): Promise<Log> {
  const signer = openSigner(config.log_key_dir, clock)
  const warn = (message: string) => logger.warn(message)
  const checkpoints = await startCheckpoints({
    db,
    signer,
    clock,
    logger,
    send: parts.send,
    every_seconds: config.checkpoint_seconds,
    is_key_lost: config.is_log_key_lost,
    anchors: parts.anchors,
    witnesses: createWitnesses(db, parts.witnesses, parts.outgoing, warn),
    log_host: config.log_host ?? machineName(),
    command: parts.command,
  })
  const { log_host, own, rejected } = checkpoints
  const { signManifest, verifierOf, everyVerifierOf, epochOf } = signer
  const signedSize = (origin: string) => signer.last(origin)?.size ?? 0
  const keysOf = (org_id: string) => signer.keysOf(log_host, org_id)
  const bundles = createBundles(own ? { db, clock, log_host, signManifest, readReport, signedSize, keysOf } : null)
  await removeStaleBundles(Date.now())
  const { archive_dir, archive_entries } = config
  const retention = createRetention({
    db,
    clock,
    logger,
    bundles,
    log_host,
    everyVerifierOf,
    epochOf,
    archive_dir,
    archive_entries,
  })
  const jobs = own ? [retention.job] : []
  const identity = { host: log_host, verifierOf, keysOf }
  const metrics = async () => [await checkpointLag(db, clock())]
  return { identity, rejected, metrics, bundles, retention, holds_key: own, jobs, close: checkpoints.close }
}

async function checkpointLag(db: Database, now: number): Promise<Metric> {
  const oldest = await withUnscopedTransaction(db, oldestNotCoveredUnscoped)
  const seconds = oldest === null ? 0 : Math.max(0, now - oldest) / 1000
  return gauge('svc_checkpoint_lag_seconds', 'Age of the oldest log entry that no checkpoint covers.', seconds)
}

/** The name of this machine, in characters that an origin can hold. */
function machineName(): string {
  return (
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      .replace(/^[^a-z0-9]+/, '') || 'localhost'
  )
}
