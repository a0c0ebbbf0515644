// Letting somebody in who waits because of SVC_REGISTRATION_CAP.
import { PlatformError } from '../errors.js'
import { type Database, withUnscopedTransaction } from '../store/db.js'
import { releasePersonUnscoped } from '../store/people.js'
import { addressOf } from './send-link.js'

/** Rejects with NOT_FOUND when nobody of that address waits. */
export async function releaseAccount(db: Database, email: string): Promise<void> {
  const released = await withUnscopedTransaction(db, (tx) => releasePersonUnscoped(tx, addressOf(email)))
  if (!released)
    throw new PlatformError('NOT_FOUND', `nobody with the address \`${addressOf(email)}\` is on the waiting list`)
}
