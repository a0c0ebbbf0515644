// Releases an account that is waitlisted because of SVC_REGISTRATION_CAP: its personal workspace opens.
import { type Database, withUnscopedTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { addressOf } from '../../mail/address.js'
import { releasePersonUnscoped } from '../store/people.js'

/** Rejects with NOT_FOUND when no waitlisted account has the address. */
export async function releaseAccount(db: Database, email: string): Promise<void> {
  const address = addressOf(email)
  const released = await withUnscopedTransaction(db, (tx) => releasePersonUnscoped(tx, address))
  if (!released) throw new PlatformError('NOT_FOUND', `no waitlisted account has the address \`${address}\``)
}
