// The composition root: puts the rooms of the platform together.
import type { Server } from 'node:http'
import { versionOf } from '@svc/schemas'
import type { Logger } from 'pino'
import { createAuthentication } from './access/authentication.js'
import { seedWorkspace } from './access/commands/seed-workspace.js'
import { makeLink } from './access/commands/send-link.js'
import type { Credentials } from './access/credentials.js'
import { createLimits } from './access/limits.js'
import type { AccessParts } from './access/parts.js'
import { isKeyEnded } from './access/secret-authentication.js'
import { findKeyUnscoped } from './access/store/organizations.js'
import { isMemberUnscoped } from './access/store/people.js'
import { openAdminSocket } from './admin/socket.js'
import { typedCommand } from './admin/typed-command.js'
import { createRulebook } from './agents/rulebook.js'
import { createWaitingEngines, type WaitingEngines } from './agents/waiting-engines.js'
import { type Config, isLoopback } from './config.js'
import { pages, showProblem } from './dashboard/pages.js'
import { type Database, openDatabase, withUnscopedTransaction } from './db/db.js'
import { migrate } from './db/migrations/index.js'
import { createNotices } from './db/notices.js'
import { assertRights } from './db/rights.js'
import { connectLibrary } from './git/commands/connect-library.js'
import { type GitRoom, openGit } from './git/room.js'
import { healthRouter, type Meters, openMeters } from './health.js'
import { createApp } from './http/app.js'
import { docsRouter } from './http/docs.js'
import type { Meter } from './http/meter.js'
import { createHistories } from './ingest/histories.js'
import { createPartitions } from './ingest/partitions.js'
import { sweepJob } from './ingest/sweep-job.js'
import { createIngest, type Ingest } from './ingest/write-queue.js'
import type { Send } from './jobs/job.js'
import { openJobs, ordinaryTimes } from './jobs/jobs.js'
import { addressOf, closeServer, createListener } from './listener.js'
import { type Log, openLog } from './log/parts.js'
import { createLogger } from './logger.js'
import { createMailer, type Mailer } from './mail/mail.js'
import { openOutside } from './outside.js'
import { openReports, type ReportRoom } from './reports/room.js'
import { noRoom, type OpenRoom, type Room } from './room.js'
import { routes } from './routes.js'
import { createAccessTokens } from './secrets/access-tokens.js'
import { encryptionKeys, keyMissing } from './secrets/encryption-key.js'
import { checkEncryptionKey } from './secrets/key-check.js'
import { isKeyFromFile, keyFileOf, keyFilePath, otherFile, otherTokens } from './secrets/key-file.js'
import { createSealer, type Sealer } from './secrets/seal.js'
import { secretHash } from './secrets/secret-hash.js'
import { sealingKeysUnscoped } from './secrets/store.js'

export interface RunningPlatform {
  /** Handles requests; not listening yet. */
  readonly listener: Server
  readonly credentials: Credentials
  readonly database: 'pglite' | 'postgresql'
  /** A sign-in link for the owner of the first workspace; null when the owner has left it. Call after listening. */
  readonly ownerLink: () => Promise<string | null>
  /** Whether the key of the first start is still valid. */
  readonly isFirstKeyValid: () => Promise<boolean>
  /** Stops accepting requests, answers those in progress, then closes the database. */
  readonly close: () => Promise<void>
}

/** Cached histories of tasks: a few hundred bytes each. */
const maxHistories = 20_000
/** Agents with cached compiled policies, per organization. */
const maxCompiledAgents = 5000

/**
 * Opens and migrates the database, creates the first workspace, and returns the complete platform. `openRoom` opens a room above
 * it, such as the GitHub App.
 */
export async function createPlatform(
  config: Config,
  clock: () => number = Date.now,
  print: (text: string) => void = () => undefined,
  openRoom: OpenRoom = noRoom,
): Promise<RunningPlatform> {
  const logger = createLogger(config.log_level)
  const warn = (message: string) => logger.warn(message)
  const outside = openOutside(config, warn)
  const keys = encryptionKeys(config)
  const sealer = createSealer(keys)
  const db = await openDatabase(config, warn)
  try {
    await prepareDatabase({ db, config, sealer, warn })
    const { org_id: operator_org, credentials } = await seedWorkspace(db, config, clock(), connectLibrary)
    const meters = openMeters(db, clock())
    const ingest = openIngest({ db, clock, sealer, meter: meters.meter, logger })
    const command = typedCommand(config.inherited.PATH ?? '')
    const keyFile = keyFileOf(config, keys, command)
    const assertKeyKept = () => keyFile?.assertKept()
    const log = await openLog({ db, clock, logger, config, ...outside, command })
    const above = await openRoom({ db, clock, logger, config, first_workspace: operator_org })
    const { outgoing } = outside
    const { targets } = outgoing
    const git = openGit({ db, clock, config, sealer, assertKeyKept, targets, installations: above.installations })
    const reports = openReports({ db, clock, logger, log })
    const mailer = mailerOf(config, print, warn)
    const actions = actionRoom({ db, clock, config, sealer, assertKeyKept, mailer, outgoing })
    const sweep = sweepJob({ db, clock, logger, config })
    const all = [log.jobs, git.jobs, reports.jobs, sweep, actions.jobs, above.jobsWith(git.parts)].flat()
    const times = { ...ordinaryTimes, unseen: config.takeover_seconds * 1000 }
    const jobs = await openJobs({ db, clock, logger, jobs: all }, times)
    const ingest = openIngest({ db, clock, sealer, meter: meters.meter, logger, send: jobs.send })
    for (const room of [git, actions, above]) await room.start(jobs.send)
    const listener = createListener()
    const url = () => config.public_url ?? addressOf(listener)
    const startWorkspace = git.startWorkspaceWith(jobs.send)
    const access = accessParts({ db, clock, logger, config, keys, url, print, startWorkspace })
    const waiting_engines = openWaitingEngines(access, config)
    const operator = { operator_org, operator_token: credentials.operator_token }
    listener.on('request', requestHandler({ config, access, operator, meters, ingest, log, jobs, git, reports, above }))
    const admin = db.kind === 'pglite' ? await openAdminSocket(config.data_dir, { db, clock, url, keyFile }) : null
    const server = { close: () => closeServer(listener, meters.stopping, config.drain_seconds) }
    // Ingestion before the jobs that it sends.
    const inOrder = [waiting_engines, server, admin, ingest, jobs, above, git, log, outgoing, access.notices, db]
    const close = async () => {
      await closeServer(listener, meters.stopping, config.drain_seconds)
      await admin?.close()
      await jobs.close()
      await above.close()
      await git.close()
      await ingest.close()
      await log.close()
      await outside.outgoing.close()
      await access.notices.close()
      await db.close()
    }
    return {
      listener,
      credentials,
      database: db.kind,
      ...firstAccess(config, access, operator_org, credentials),
      close,
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

interface Admitting extends Pick<AccessParts, 'db' | 'clock' | 'logger' | 'url' | 'mailer' | 'startWorkspace'> {
  readonly config: Config
  readonly keys: readonly Buffer[]
}

function accessParts({ config, keys, ...others }: Admitting): AccessParts {
  const { db, clock, logger } = others
  const warn = (message: string) => logger.warn(message)
  return {
    ...others,
    notices: createNotices(config.database_url, warn),
    access_tokens: createAccessTokens(keys, clock),
    limits: createLimits(db, config.rate_limits, clock),
    registration_cap: config.registration_cap,
  }
}

function mailerOf(config: Config, print: (text: string) => void, remark: (message: string) => void): Mailer {
  const { smtp_url, mail_from: from } = config
  if (smtp_url === null && !isLoopback(config))
    remark('no mail is sent: set SVC_SMTP_URL, or create sign-in links with `svc-platform admin sign-in-link EMAIL`')
  return createMailer({ smtp_url, from, print: isLoopback(config) ? print : null, remark })
}

/** Answers to incidents, on this install. */
function actionRoom({
  config,
  ...parts
}: { config: Config } & Omit<RoomParts, 'public_url' | 'sends_mail'>): ActionRoom {
  return openActions({ ...parts, public_url: config.public_url, sends_mail: config.smtp_url !== null })
}

interface Preparing {
  readonly db: Database
  readonly config: Config
  readonly sealer: Sealer
  readonly warn: (message: string) => void
}

/** Rejects with CONFLICT or ENCRYPTION_KEY_INVALID when rights or keys are missing. */
async function prepareDatabase({ db, config, sealer, warn }: Preparing): Promise<void> {
  await assertRights(db)
  await migrate(db)
  // The key file of an embedded database can be replaced until a secret is encrypted with it.
  if (db.kind === 'postgresql') await withUnscopedTransaction(db, (tx) => checkEncryptionKey(tx, sealer))
  const used = await withUnscopedTransaction(db, sealingKeysUnscoped)
  const missing = used.filter(({ id }) => !sealer.key_ids.includes(id))
  const ids = [...new Set(missing.map(({ id }) => id))]
  if (missing.length > 0 && !isKeyFromFile(config)) throw keyMissing(ids)
  if (missing.some(({ is_replaceable }) => !is_replaceable)) throw otherFile(keyFilePath(config), ids)
  if (missing.length > 0) warn(otherTokens(keyFilePath(config)))
}

interface Ingesting {
  readonly db: Database
  readonly clock: () => number
  readonly sealer: Sealer
  readonly meter: Meter
  readonly logger: Logger
  readonly send: Send
}

function openIngest({ meter, logger, ...others }: Ingesting): Ingest {
  const parts = {
    ...others,
    committed: meter.committed,
    remark: (message: string) => logger.warn(message),
    rulebook: createRulebook(maxCompiledAgents),
    histories: createHistories(maxHistories),
    partitions: createPartitions(),
  }
  return createIngest(parts, (error) => logger.error({ err: error }, 'could not store an entry'))
}

/** Engines that wait for a change, also for the end of their key. */
function openWaitingEngines({ db, clock, notices }: AccessParts, { policy_ttl_seconds }: Config): WaitingEngines {
  const waiting = createWaitingEngines({ db, clock, policy_ttl_seconds })
  notices.subscribe((notice) => waiting.recheck(notice?.key_id ?? null))
  return waiting
}

interface Handling {
  readonly config: Config
  readonly access: AccessParts
  readonly waiting_engines: WaitingEngines
  readonly operator: { readonly operator_org: string; readonly operator_token: string }
  readonly meters: Meters
  readonly ingest: Ingest
  readonly log: Log
  readonly jobs: Jobs
  readonly git: GitRoom
  readonly reports: ReportRoom
  readonly actions: ActionRoom
  readonly above: Room
}

/** Answers requests: probes and the API description, pages, then the routes. */
function requestHandler({ config, access, operator, meters, ingest, log, jobs, git, reports, above }: Handling) {
  const { clock, logger, limits } = access
  const { public_url, trusted_proxies } = config
  const version = versionOf('API')
  const { authenticate, identify } = createAuthentication(access, operator)
  const { meter } = meters
  const health = healthRouter({
    ...access,
    ...meters,
    counted: [meters.process_meter, meter, ingest],
    sources: [jobs.metrics, log.metrics],
    version,
    rejected: log.rejected,
    jobs,
    identify,
  })
  const pageParts = { ...access, authenticate, public_url, sends_mail: config.smtp_url !== null }
  const git_parts = git.partsWith(jobs.send)
  const served = [...routes, ...above.routesWith(jobs.send)]
  const parts = {
    ...access,
    ingest,
    evaluated: meter.evaluated,
    log: log.identity,
    bundles: log.bundles,
    retention: log.retention,
    ...git_parts,
    ...reports.partsWith(jobs.send),
    ...actions.partsWith(jobs.send),
    jobs,
    waiting_engines,
    announceChange: waiting_engines.announceChange,
    policy_ttl_seconds: config.policy_ttl_seconds,
    task_timeout_seconds: config.task_timeout_seconds,
  }
  return createApp({
    clock,
    logger,
    meter,
    trusted_proxies,
    public_url,
    limits,
    authenticate,
    pages: [health, docsRouter(served, version), ...pages(pageParts)],
    routes: served,
    parts,
    showProblem,
  })
}

/** The access that the first start prints, while it is valid. */
function firstAccess({ owner_email }: Config, access: AccessParts, org_id: string, { api_key }: Credentials) {
  const { db, clock, url } = access
  return {
    ownerLink: async () => {
      const isMember = await withUnscopedTransaction(db, (tx) => isMemberUnscoped(tx, org_id, owner_email))
      return isMember ? makeLink(db, clock(), url(), owner_email) : null
    },
    isFirstKeyValid: async () => {
      if (api_key === null) return false
      const found = await withUnscopedTransaction(db, (tx) => findKeyUnscoped(tx, secretHash(api_key)))
      return found !== null && !isKeyEnded(found, clock())
    },
  }
}
