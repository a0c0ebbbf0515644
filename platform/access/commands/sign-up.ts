// Creates the account of an address that signs in or accepts an invitation for the first time.

import type { Transaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { AccessParts } from '../parts.js'
import { countPeopleUnscoped, findPersonUnscoped, insertPersonUnscoped, type Person } from '../store/people.js'
import { makeWorkspace } from './make-workspace.js'

/** Creates an account with a personal workspace. Beyond the registration cap the account is waitlisted, and its workspace closed. */
export async function signUp(
  { registration_cap, startWorkspace }: Pick<AccessParts, 'registration_cap' | 'startWorkspace'>,
  tx: Transaction,
  now: number,
  email: string,
): Promise<Person> {
  const count = await countPeopleUnscoped(tx)
  // Another link of the address may have created the account while this transaction waited for the lock.
  const known = await findPersonUnscoped(tx, email)
  if (known !== null) return known
  const is_capped = registration_cap !== null && count >= registration_cap
  const person = { person_id: newId('usr', now), email, name: email.split('@')[0] ?? email, is_capped }
  await insertPersonUnscoped(tx, now, person)
  await makeWorkspace(tx, now, `${person.name}'s workspace`, person.person_id, startWorkspace)
  return person
}
