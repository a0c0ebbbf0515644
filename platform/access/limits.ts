// How often callers may try what guards secrets or sends mail.
import type { RateLimits } from '../config.js'
import type { Database } from '../db/db.js'
import { createLimit, type Limit } from '../http/limits.js'
import { createSharedLimits, type SharedLimit } from '../http/shared-limits.js'

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
