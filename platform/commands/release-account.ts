// Letting somebody in who waits because of SVC_REGISTRATION_CAP.
import { PlatformError } from '../errors.js'
import { addressOf } from '../mail/address.js'
import { type Database, withUnscopedTransaction } from '../store/db.js'
import { findPersonUnscoped, releasePersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { placeSessionsUnscoped } from '../store/sessions.js'
import { makeWorkspace } from './make-workspace.js'

/** Lets them in, with a workspace of their own. Rejects with NOT_FOUND when nobody of that address waits. */
export async function releaseAccount(db: Database, email: string, now: number): Promise<void> {
  const released = await withUnscopedTransaction(db, async (tx) => {
    if (!(await releasePersonUnscoped(tx, addressOf(email)))) return false
    const person = await findPersonUnscoped(tx, addressOf(email))
    if (person === null || (await workspacesOfUnscoped(tx, person.person_id)).length > 0) return true
    const org_id = await makeWorkspace(tx, now, `${person.name}'s workspace`, person.person_id)
    await placeSessionsUnscoped(tx, person.person_id, org_id)
    return true
  })
  if (!released)
    throw new PlatformError('NOT_FOUND', `nobody with the address \`${addressOf(email)}\` is on the waiting list`)
}
