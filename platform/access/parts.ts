// The parts that the routes and commands of this room use.
import type { Logger } from 'pino'
import type { Resources } from '../db/db.js'
import type { Notices } from '../db/notices.js'
import type { Mailer } from '../mail/mail.js'
import type { AccessTokens } from '../secrets/access-tokens.js'
import type { StartWorkspace } from './commands/make-workspace.js'
import type { Limits } from './limits.js'

export interface AccessParts extends Resources {
  readonly notices: Notices
  readonly logger: Logger
  readonly mailer: Mailer
  readonly access_tokens: AccessTokens
  readonly limits: Limits
  /** The address at which people reach the platform. */
  readonly url: () => string
  /** Accounts beyond this many are waitlisted; null sets no limit. */
  readonly registration_cap: number | null
  /** Completes a new workspace. */
  readonly startWorkspace: StartWorkspace
}
