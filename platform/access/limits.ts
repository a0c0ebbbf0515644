// The rate limits of sign-in, offers and credentials.
import type { RateLimits } from '../config.js'
import type { Database } from '../db/db.js'
import { createLimit, type Limit } from '../http/limits.js'
import { createSharedLimits, type SharedLimit } from '../http/shared-limits.js'

/** Limits that guard secrets are shared by all processes of the database. */
export interface Limits {
  /** Sign-in links to one mailbox. */
  readonly by_mailbox: SharedLimit
  /** Attempts to sign in from one network address. */
  readonly by_address: SharedLimit
  /** Device codes and confirmations that one person enters. */
  readonly by_person: SharedLimit
  /** Offers of one workspace to one mailbox. */
  readonly by_offered: Limit
  /** Mails about offers to one mailbox, counted separately from its sign-in links. */
  readonly by_mailbox_offers: Limit
  /** Offers that one person makes, each with a mail. */
  readonly by_inviter: Limit
  /** Polls and refreshes of programs at one network address. */
  readonly by_poller: SharedLimit
  /** Invalid API keys and operator tokens from one network address. */
  readonly by_wrong_credential: SharedLimit
  /** Requests of one API key. */
  readonly by_key: Limit
}

export function createLimits(db: Database, { key, address, mailbox }: RateLimits, clock: () => number): Limits {
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
