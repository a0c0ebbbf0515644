// The composition root: the one place that puts the platform together.
import { createServer, type Server } from 'node:http'
import { hostname } from 'node:os'
import { smallOrderProblem } from '@svc/proof'
import { pino } from 'pino'
import { openAdminSocket } from './admin/socket.js'
import { seedWorkspace } from './access/commands/seed-workspace.js'
import { makeLink } from './access/commands/send-link.js'
import type { Config, RateLimits } from './config.js'
import type { Credentials } from './access/credentials.js'
import { PlatformError } from './errors.js'
import { createApp } from './http/app.js'
import { isOver } from './access/authentication.js'
import { createLimit } from './http/limits.js'
import { createSharedLimits } from './http/shared-limits.js'
import type { CommitParts } from './ingest/commit.js'
import { createHistories } from './ingest/histories.js'
import { createPartitions } from './ingest/partitions.js'
import { createRulebook } from './agents/rulebook.js'
import { createIngest } from './ingest/writer.js'
import type { Anchor, Surroundings } from './log/publish/anchors/anchor.js'
import { createAnchors, parseAnchor } from './log/publish/anchors/anchors.js'
import { createBundles, removeLeftBundles } from './log/bundle/bundles.js'
import { startCheckpoints } from './log/publish/checkpoints.js'
import { startRetention } from './log/retention/retention.js'
import { openSigner } from './log/publish/signer.js'
import { createWitnesses, parseWitness, type WitnessAddress } from './log/publish/witnesses.js'
import { createMailer } from './mail/mail.js'
import { createMeter } from './http/meter.js'
import { migrate } from './db/migrations/index.js'
import { createOutgoing, type Outgoing } from './outgoing/outgoing.js'
import { createTargets } from './outgoing/targets.js'
import type { Platform } from './platform.js'
import { createAccessTokens } from './secrets/access-tokens.js'
import { encryptionKeys, keyMissing } from './secrets/encryption-key.js'
import { checkEncryptionKey } from './secrets/key-check.js'
import { createSealer, type Sealer } from './secrets/seal.js'
import { type Database, openDatabase, withUnscopedTransaction } from './db/db.js'
import { createNotices } from './db/notices.js'
import { findKeyUnscoped, keyHash } from './access/store/organizations.js'
import { isMemberUnscoped } from './access/store/people.js'
import { assertRights } from './db/rights.js'
import { sealingKeysUnscoped } from './secrets/store.js'
import { typedCommand } from './admin/typed-command.js'
import { version } from './version.js'

export { type Config, readConfig } from './config.js'
export { credentialsPath } from './access/credentials.js'
export { PlatformError } from './errors.js'

export interface RunningPlatform {
  /** Handles requests; not listening yet. */
  readonly listener: Server
  readonly credentials: Credentials
  readonly database: 'pglite' | 'postgresql'
  /** A sign-in link for whoever is to own the first workspace, once it listens; null when they are not in it any more. */
  readonly ownerLink: () => Promise<string | null>
  /** Whether the key that was made at the first start still opens anything. */
  readonly isFirstKeyGood: () => Promise<boolean>
  /** Stops accepting, answers what has been accepted, then lets go of the database. */
  readonly close: () => Promise<void>
}

/** Histories of the tasks last written to: a few hundred bytes each. */
const historiesKept = 20_000
/** Agents whose rules stay compiled, per organization. */
const agentsKept = 5000

/** Opens the database, brings it up to date, makes the first workspace, and returns a platform that is complete. */
export async function createPlatform(
  config: Config,
  clock: () => number = Date.now,
  print: (text: string) => void = () => undefined,
): Promise<RunningPlatform> {
  const logger = pino({ level: config.log_level, serializers: { err: errorView } })
  const warn = (message: string) => logger.warn(message)
  // What is configured wrongly is said before anything is opened.
  const outgoing = createOutgoing(createTargets(config.private_targets, isLoopback(config)))
  const anchors = createAnchors(
    config.anchors.map((text) => anchorAt(text, { env: config.inherited, outgoing })),
    warn,
  )
  const witnesses = config.witnesses.map((text) => witnessAt(text, outgoing))
  const keys = encryptionKeys(config)
  const access_tokens = createAccessTokens(keys, clock)
  const sealer = createSealer(keys)
  if (config.smtp_url === null && !isLoopback(config))
    warn('no mail is sent: set SVC_SMTP_URL, or make sign-in links with `svc-platform admin sign-in-link EMAIL`')
  const db = await openDatabase(config, warn)
  try {
    await assertRights(db)
    await migrate(db)
    // An embedded database has one process, whose key file may be replaced while nothing is sealed with it.
    if (db.kind === 'postgresql') await withUnscopedTransaction(db, (tx) => checkEncryptionKey(tx, sealer))
    await refuseUnknownSeals(db, sealer)
    const { org_id: operator_org, credentials } = await seedWorkspace(db, config, clock())
    const meter = createMeter()
    const parts: CommitParts = {
      db,
      clock,
      committed: meter.committed,
      sealer,
      rulebook: createRulebook(agentsKept),
      histories: createHistories(historiesKept),
      partitions: createPartitions(),
    }
    const ingest = createIngest(parts, (error) => logger.error({ err: error }, 'an entry could not be stored'))
    const { operator_token } = credentials
    const signer = openSigner(config.log_key_dir, clock)
    const checkpoints = await startCheckpoints({
      ...{ db, signer, clock, logger, every_seconds: config.checkpoint_seconds },
      anchors,
      witnesses: createWitnesses(db, witnesses, outgoing, warn),
      log_host: config.log_host ?? ownName(),
      command: typedCommand(config.inherited.PATH ?? ''),
    })
    const { log_host } = checkpoints
    const signedSize = (origin: string) => signer.last(origin)?.size ?? 0
    const keysOf = (org_id: string) => signer.keysOf(log_host, org_id)
    const bundling = { db, clock, log_host, signManifest: signer.signManifest, signedSize, keysOf }
    const listener = createServer({ requestTimeout: longestRequest, keepAliveTimeout: idleConnectionMs })
    const bundles = createBundles(checkpoints.own ? bundling : null)
    await removeLeftBundles(Date.now())
    const { verifierOf, everyVerifierOf, incarnationOf } = signer
    const { archive_dir, archive_entries } = config
    const archiving = { db, bundles, log_host, everyVerifierOf, incarnationOf, archive_dir }
    const keeping = { ...archiving, clock, logger, archive_entries }
    const retention = startRetention(keeping, checkpoints.own)
    const notices = createNotices(config.database_url, warn)
    const platform: Platform = {
      config,
      db,
      notices,
      ingest,
      logger,
      meter,
      clock,
      started_at: clock(),
      version,
      operator_org,
      operator_token,
      ...{ bundles, retention, limits: createLimits(db, config.rate_limits, clock) },
      access_tokens,
      sealer,
      mailer: createMailer({
        smtp_url: config.smtp_url,
        from: config.mail_from,
        print: isLoopback(config) ? print : null,
        remark: warn,
      }),
      url: () => config.public_url ?? addressOf(listener),
      log: {
        host: log_host,
        verifierOf,
        keysOf,
        refused: checkpoints.refused,
      },
    }
    listener.on('request', createApp(platform))
    const admin = db.kind === 'pglite' ? await openAdminSocket(config.data_dir, { db, clock, url: platform.url }) : null
    const close = async () => {
      await closeServer(listener)
      await admin?.close()
      await ingest.close()
      await retention.close()
      await checkpoints.close()
      await outgoing.close()
      await notices.close()
      await db.close()
    }
    const ownerLink = async () => {
      const { owner_email } = config
      const isIn = await withUnscopedTransaction(db, (tx) => isMemberUnscoped(tx, operator_org, owner_email))
      return isIn ? makeLink(db, clock(), platform.url(), owner_email) : null
    }
    const isFirstKeyGood = async () => {
      const { api_key } = credentials
      if (api_key === null) return false
      const found = await withUnscopedTransaction(db, (tx) => findKeyUnscoped(tx, keyHash(api_key)))
      return found !== null && !isOver(found, clock())
    }
    return { listener, credentials, database: db.kind, ownerLink, isFirstKeyGood, close }
  } catch (error) {
    await db.close()
    throw error
  }
}

function witnessAt(text: string, { targets }: Outgoing): WitnessAddress {
  const witness = parseWitness(text)
  const problem = witness === null ? null : targets.problemOf(witness.url)
  if (problem !== null)
    throw new PlatformError('INVALID', `SVC_WITNESSES holds an address that is not called: ${problem}`)
  if (witness !== null) return witness
  const weak = smallOrderProblem(text.split(/#(.*)/s)[1] ?? '')
  if (weak !== null) throw new PlatformError('INVALID', `SVC_WITNESSES: ${weak}`)
  throw new PlatformError(
    'INVALID',
    `SVC_WITNESSES holds \`${text}\`, which is not URL#KEY with the key that the witness prints`,
  )
}

function anchorAt(text: string, around: Surroundings): Anchor {
  try {
    const anchor = parseAnchor(text, around)
    if (anchor !== null) return anchor
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new PlatformError('INVALID', `SVC_ANCHORS holds an address that is not called: ${problem}`)
  }
  throw new PlatformError(
    'INVALID',
    `SVC_ANCHORS holds \`${text}\`, which is none of file:FOLDER, git:FOLDER and https://…`,
  )
}

/** Nothing may be found missing while it is needed. Rejects with ENCRYPTION_KEY_INVALID. */
async function refuseUnknownSeals(db: Database, { key_ids }: Sealer): Promise<void> {
  const missing = (await withUnscopedTransaction(db, sealingKeysUnscoped)).filter((id) => !key_ids.includes(id))
  if (missing.length > 0) throw keyMissing(missing)
}

/** How long a request may take to arrive, ms: 8 MiB over a slow line. */
const longestRequest = 60_000
/** Longer than the minute that load balancers keep connections: they would send into one that is being closed. */
const idleConnectionMs = 75_000

/** Whether only this machine can reach the platform. */
export function isLoopback({ host }: Config): boolean {
  return ['127.0.0.1', '::1', 'localhost'].includes(host)
}

function createLimits(db: Database, { key, address, mailbox }: RateLimits, clock: () => number): Platform['limits'] {
  const quarter = 15 * 60
  const shared = createSharedLimits(db, clock)
  return {
    by_mailbox: shared('mailbox', mailbox, quarter),
    by_address: shared('address', address, quarter),
    by_person: shared('person', 10, quarter),
    by_offered: createLimit(mailbox, quarter, clock),
    by_mailbox_offers: createLimit(mailbox * 2, quarter, clock),
    by_inviter: createLimit(mailbox * 10, quarter, clock),
    by_poller: shared('poller', address * 10, quarter),
    by_wrong_credential: shared('wrong_credential', address, quarter),
    by_key: createLimit(key, 60, clock),
  }
}

/** Where the listener can be reached from this machine. */
function addressOf(listener: Server): string {
  const at = listener.address()
  if (at === null || typeof at === 'string') return 'http://127.0.0.1'
  return `http://${at.family === 'IPv6' ? `[${at.address}]` : at.address}:${at.port}`
}

/** What this machine is called, as far as that can stand in a checkpoint. */
function ownName(): string {
  return (
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      .replace(/^[^a-z0-9]+/, '') || 'localhost'
  )
}

async function closeServer(listener: Server): Promise<void> {
  if (!listener.listening) return
  // A connection whose request is still being answered is not kept afterwards.
  listener.keepAliveTimeout = 1
  const closed = new Promise((resolve) => listener.close(resolve))
  listener.closeIdleConnections()
  await closed
}

/** What the log says of an error: the database's own details quote the values they are about. */
function errorView(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  return { type: name, code: (error as { code?: unknown }).code, message, stack }
}
