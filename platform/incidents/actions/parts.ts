// The parts that the routes and commands of this room use.
import type { Resources } from '../../db/db.js'
import type { Limit } from '../../http/limits.js'
import type { Send } from '../../jobs/job.js'
import type { Mailer } from '../../mail/mail.js'
import type { Outgoing } from '../../outgoing/outgoing.js'
import type { Sealer } from '../../secrets/seal.js'

/** The parts that an attempt uses. */
export interface SendingParts extends Resources {
  readonly sealer: Sealer
  readonly outgoing: Outgoing
  readonly mailer: Mailer
  /** Null where the platform does not know the address at which people reach it. */
  readonly public_url: string | null
  /** From 0 to before 1. */
  readonly random: () => number
  readonly send: Send
}

export interface ActionParts extends SendingParts {
  /** False without a mail server. */
  readonly sends_mail: boolean
  /** Throws ENCRYPTION_KEY_INVALID when a secret sealed now could not be opened after the next start. */
  readonly assertKeyKept: () => void
  /** Tests of the actions of one workspace. */
  readonly tests: Limit
}
