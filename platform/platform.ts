// What the parts of a running platform share. Made once by createPlatform, and complete from then on.
import type { LogKey } from '@svc/schemas'
import type { Logger } from 'pino'
import type { Config } from './config.js'
import type { Limit } from './http/limits.js'
import type { SharedLimit } from './http/shared-limits.js'
import type { Ingest } from './ingest/writer.js'
import type { Bundles } from './log/bundle/bundles.js'
import type { Retention } from './log/retention/retention.js'
import type { Mailer } from './mail/mail.js'
import type { Meter } from './http/meter.js'
import type { AccessTokens } from './secrets/access-tokens.js'
import type { Sealer } from './secrets/seal.js'
import type { Database } from './db/db.js'
import type { Notices } from './db/notices.js'

export interface Platform {
  readonly config: Config
  readonly db: Database
  readonly notices: Notices
  readonly ingest: Ingest
  readonly logger: Logger
  readonly meter: Meter
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly started_at: number
  readonly version: string
  /** The organization that the local operator token opens. */
  readonly operator_org: string
  readonly operator_token: string
  readonly log: LogIdentity
  readonly access_tokens: AccessTokens
  /** Keeps secrets that must be read again. */
  readonly sealer: Sealer
  readonly mailer: Mailer
  /** Where people reach the platform. */
  readonly url: () => string
  readonly limits: Limits
  readonly bundles: Bundles
  readonly retention: Retention
}

/** How often something may be asked for; those that guard secrets are shared by all processes of the database. */
export interface Limits {
  readonly by_mailbox: SharedLimit
  readonly by_address: SharedLimit
  /** Codes of devices that a person tries. */
  readonly by_person: SharedLimit
  /** Offers of one workspace to one mailbox. */
  readonly by_offered: Limit
  /** Mails about offers to one mailbox, which do not stop its sign-in links. */
  readonly by_mailbox_offers: Limit
  /** Offers that a person makes, each with a mail. */
  readonly by_inviter: Limit
  /** Programs at one address that ask whether they are let in. */
  readonly by_poller: SharedLimit
  /** API keys and operator tokens from one address that are not valid. */
  readonly by_wrong_credential: SharedLimit
  readonly by_key: Limit
}

/** What this installation's checkpoints are called and signed with. */
export interface LogIdentity {
  readonly host: string
  /** The key, as those write it down who trust it for the log of that origin. */
  readonly verifierOf: (origin: string) => string
  /** Every key that signs or has signed the log of an organization. */
  readonly keysOf: (org_id: string) => readonly LogKey[]
  /** Why checkpoints are refused, by organization; empty when none are. */
  readonly refused: ReadonlyMap<string, string>
}
