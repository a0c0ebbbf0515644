// The composition root: puts the rooms of the platform together.
import type { Server } from 'node:http'
import { type Task, TaskTable } from '@svc/engine'
import type { Logger } from 'pino'
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
import { type Database, openDatabase, withUnscopedTransaction } from './db/db.js'
import { createNotices } from './db/notices.js'
import { connectLibrary } from './git/commands/connect-library.js'
import type { Installations } from './git/installations.js'
import { openGit } from './git/room.js'
import { openMeters } from './health.js'
import type { Meter } from './http/meter.js'
import { type ActionRoom, openActions, type RoomParts } from './incidents/actions/room.js'
import { createPace } from './ingest/pace.js'
import { createPartitions } from './ingest/partitions.js'
import { sweepJob } from './ingest/sweep-job.js'
import { createIngest, type Ingest } from './ingest/write-queue.js'
import type { JobTimes, Send } from './jobs/job.js'
import { openQueue, ordinaryTimes } from './jobs/jobs.js'
import { upkeepJobs } from './jobs/upkeep-job.js'
import { addressOf, closeServer, createListener } from './listener.js'
import { openLog } from './log/parts.js'
import { createLogger } from './logger.js'
import { createMailer, type Mailer } from './mail/mail.js'
import { openOutside } from './outside.js'
import { prepareDatabase } from './prepare-database.js'
import { readReport } from './reports/collect/make-report.js'
import { openReports } from './reports/room.js'
import { requestHandler } from './request-handler.js'
import { noRoom, type OpenRoom, type Room } from './room.js'
import { createAccessTokens } from './secrets/access-tokens.js'
import { encryptionKeys } from './secrets/encryption-key.js'
import { keyFileOf } from './secrets/key-file.js'
import { assertPrivateFolders } from './secrets/key-folders.js'
import { createSealer, type Sealer } from './secrets/seal.js'
import { secretHash } from './secrets/secret-hash.js'

export interface RunningPlatform {
  /** Handles requests; not listening yet. */
  readonly listener: Server
  readonly credentials: Credentials
  readonly database: 'pglite' | 'postgresql'
  /** Settings that this process must share with the others of its database, and does not. */
  readonly not_shared: readonly string[]
  /** A sign-in link for the owner of the first workspace; null when the owner has left it. Call after listening. */
  readonly ownerLink: () => Promise<string | null>
  /** True if the key of the first start is still valid. */
  readonly isFirstKeyValid: () => Promise<boolean>
  /** Stops accepting requests, answers those in progress, then closes the database. */
  readonly close: () => Promise<void>
}

/** Tasks in memory: a few hundred bytes each. */
const maxTasks = 20_000
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
  assertPrivateFolders(config)
  const keys = encryptionKeys(config)
  const sealer = createSealer(keys)
  const db = await openDatabase(config, warn)
  try {
    await prepareDatabase({ db, config, sealer, warn })
    const command = typedCommand(config.inherited.PATH ?? '')
    const keyFile = keyFileOf(config, keys, command)
    const assertKeyKept = () => keyFile?.assertKept()
    const queue = openQueue({ db, clock, logger }, jobTimes(config))
    const { send } = queue
    const { outgoing } = outside
    const shared = { db, clock, config, sealer, send, assertKeyKept, outgoing }
    const mailer = mailerOf(config, print, warn)
    const actions = actionRoom({ ...shared, mailer })
    queue.add(actions.jobs)
    const log = await openLog({ db, clock, logger, config, send, readReport, ...outside, command })
    const { org_id: operator_org, credentials } = await seedWorkspace(db, config, clock(), connectLibrary)
    const meters = openMeters(db, clock())
    const git = openGit({ ...shared, installations: installationsOf(() => above) })
    const above = await openRoom({ db, clock, logger, config, send, first_workspace: operator_org, reading: git.parts })
    const reports = openReports({ db, clock, send, logger, log, checkpoint_seconds: config.checkpoint_seconds })
    queue.add([sweepJob({ db, clock, send, logger, config }), ...upkeepJobs(db)])
    for (const room of [log, git, reports, above]) queue.add(room.jobs)
    const ingest = openIngest({ db, clock, sealer, meter: meters.meter, logger, send })
    for (const part of [git, queue]) await part.start()
    const listener = createListener()
    const url = () => config.public_url ?? addressOf(listener)
    const access = accessParts({ db, clock, logger, config, keys, url, mailer, startWorkspace: git.startWorkspace })
    const waiting_engines = openWaitingEngines(access, config)
    const operator = { operator_org, operator_token: credentials.operator_token }
    const served = { waiting_engines, meters, ingest, log, queue, git, reports, actions, above }
    listener.on('request', requestHandler({ config, access, operator, ...served }))
    const admin = db.kind === 'pglite' ? await openAdminSocket(config.data_dir, { db, clock, url, keyFile }) : null
    const server = { close: () => closeServer(listener, meters.stopping, config.drain_seconds) }
    // Ingestion before the jobs that it sends.
    const inOrder = [waiting_engines, server, admin, ingest, queue, above, git, log, outgoing, access.notices, db]
    return {
      listener,
      credentials,
      database: db.kind,
      not_shared: notShared(config, db.kind, log.holds_key, credentials),
      ...firstAccess(config, access, operator_org, credentials),
      close: () => closeInOrder(inOrder),
    }
  } catch (error) {
    await db.close()
    throw error
  }
}

/** Those of the room above, which opens later. */
function installationsOf(above: () => Room): Installations {
  return {
    find: (...of) => above().installations.find(...of),
    token: (...of) => above().installations.token(...of),
  }
}

async function closeInOrder(parts: readonly ({ readonly close: () => unknown } | null)[]): Promise<void> {
  for (const part of parts) await part?.close()
}

function jobTimes({ takeover_seconds }: Config): JobTimes {
  return { ...ordinaryTimes, unseen: takeover_seconds * 1000 }
}

function notShared(
  { operator_token, log_key_dir }: Config,
  kind: Database['kind'],
  holds_key: boolean,
  { api_key }: Credentials,
): string[] {
  const key = `the folder \`${log_key_dir}\` lacks the key that signs the log of this database: this process publishes no checkpoints, prunes nothing, and makes neither reports nor bundles; set SVC_LOG_KEY_DIR to the folder that holds the key, one for all processes, or restore it from a backup`
  const token =
    'this process made its own operator token, which the other processes of this database reject: set the same SVC_OPERATOR_TOKEN for all of them'
  // The process that made the first workspace has its key.
  const isOther = kind === 'postgresql' && operator_token === null && api_key === null
  return [...(holds_key ? [] : [key]), ...(isOther ? [token] : [])]
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
    tasks: new TaskTable<Task>({ maxTasks }),
    partitions: createPartitions(),
    pace: createPace(),
  }
  return createIngest(parts, (error) => logger.error({ err: error }, 'could not store an entry'))
}

/** Engines that wait for a change, also for the end of their key. */
function openWaitingEngines({ db, clock, notices }: AccessParts, { policy_ttl_seconds }: Config): WaitingEngines {
  const waiting = createWaitingEngines({ db, clock, policy_ttl_seconds })
  notices.subscribe((notice) => waiting.recheck(notice?.key_id ?? null))
  return waiting
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
