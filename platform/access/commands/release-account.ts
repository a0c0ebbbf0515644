// Releases an account that is waitlisted because of SVC_REGISTRATION_CAP.

import { type Database, withUnscopedTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { addressOf } from '../../mail/address.js'
import { findPersonUnscoped, releasePersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { switchSessionsUnscoped } from '../store/sessions.js'
import { makeWorkspace, type StartWorkspace } from './make-workspace.js'

/** Opens the account's personal workspace. Rejects with NOT_FOUND when no waitlisted account has the address. */
export async function releaseAccount(
  db: Database,
  email: string,
  now: number,
  startWorkspace: StartWorkspace,
): Promise<void> {
  const released = await withUnscopedTransaction(db, async (tx) => {
    if (!(await releasePersonUnscoped(tx, addressOf(email)))) return false
    const person = await findPersonUnscoped(tx, addressOf(email))
    const own = person === null ? [] : await workspacesOfUnscoped(tx, person.person_id)
    if (person === null || own.some(({ kind }) => kind === 'personal')) return true
    // Accounts that earlier versions waitlisted have no workspace.
    const org_id = await makeWorkspace(tx, now, `${person.name}'s workspace`, person.person_id, startWorkspace)
    await switchSessionsUnscoped(tx, person.person_id, org_id)
    return true
  })
  if (!released) throw new PlatformError('NOT_FOUND', `no waitlisted account has the address \`${addressOf(email)}\``)
}
