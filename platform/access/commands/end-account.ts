// Ends an account: the person leaves every workspace, workspaces without other members are closed, and the address is erased.

import { isoTime } from '@svc/schemas'
import { type Resources, type Transaction, withUnscopedTransaction, withUnscopedTransactionOf } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { Role } from '../../http/principal.js'
import { addressOf } from '../../mail/address.js'
import { endPersonUnscoped, eraseAddressUnscoped } from '../store/account-ends.js'
import { readKeys, revokeKey } from '../store/api-keys.js'
import { countMembers, lockMembership, lockWorkspace, readOffersToUnscoped, renameWorkspace } from '../store/members.js'
import { readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { type Recipient, transferOwnership } from './decide-offer.js'
import { removeFrom, successorOf } from './leave.js'
import { noteChange } from './members.js'
import { moveOffer } from './offer-moves.js'

/** The effect of the end of an account on one of its workspaces. */
interface Ending {
  readonly scope: Scope
  readonly name: string
  readonly kind: 'personal' | 'shared' | null
  readonly role: Role
  /** It has no other member. */
  readonly closes: boolean
  /** The successor who becomes the owner. */
  readonly next: Recipient | null
}

/**
 * Ends the account of `person_id`. `confirmed` is the address as the person typed it. Rejects with INVALID for another address,
 * and with CONFLICT, naming the workspaces, while the account owns one with other members and without a successor.
 */
export async function endAccount({ db, clock }: Resources, person_id: string, confirmed: string): Promise<void> {
  const now = clock()
  const [first] = await withUnscopedTransaction(db, (tx) => workspacesOfUnscoped(tx, person_id))
  const actor = { kind: 'person', id: person_id } as const
  await withUnscopedTransactionOf(db, scopeOf(first?.org_id ?? 'org_0', actor), async (tx) => {
    const person = await readPersonUnscoped(tx, person_id)
    const isEnding =
      person !== null && confirms(person.email, confirmed) && (await endPersonUnscoped(tx, now, person_id))
    if (person === null || !isEnding) throw new PlatformError('NOT_FOUND', 'no such account')
    // Accounts are locked before workspaces, and workspaces in one order.
    const own = await workspacesOfUnscoped(tx, person_id)
    const pending = (await readOffersToUnscoped(tx, person.email)).filter(({ state }) => state === 'pending')
    const org_ids = [...new Set([...own, ...pending].map(({ org_id }) => org_id))].sort()
    for (const org_id of org_ids) await lockWorkspace(scopeOf(org_id, actor), tx)
    for (const { org_id, id } of pending) await moveOffer(scopeOf(org_id, actor), tx, now, id, 'decline')
    const endings: Ending[] = []
    for (const { org_id, name } of own) endings.push(...(await endingOf(scopeOf(org_id, actor), tx, person_id, name)))
    rejectOrphans(endings)
    for (const ending of endings) await endIn(ending, tx, now, person)
    await eraseAddressUnscoped(tx, now, person)
  })
}

/** Throws INVALID for another address. */
function confirms(email: string, confirmed: string): true {
  if (addressOf(confirmed) === email) return true
  const errors = [{ path: 'email', message: 'must be the address of this account, to confirm the end of the account' }]
  throw new PlatformError('INVALID', '`email`: must be the address of this account', { errors })
}

/** Empty when the membership ended before the workspace was locked. */
async function endingOf(scope: Scope, tx: Transaction, person_id: string, name: string): Promise<Ending[]> {
  const kind = await lockWorkspace(scope, tx)
  const member = await lockMembership(scope, tx, person_id)
  if (member === null) return []
  const { role } = member
  const closes = role === 'owner' && (await countMembers(scope, tx)) === 1
  const next = role === 'owner' && !closes ? await successorOf(scope, tx, person_id) : null
  return [{ scope, name, kind, role, closes, next }]
}

/** INVARIANT (one owner): no workspace with members is left without an owner. */
function rejectOrphans(endings: readonly Ending[]): void {
  const orphans = endings.filter(({ role, closes, next }) => role === 'owner' && !closes && next === null)
  if (orphans.length === 0) return
  const names = orphans.map(({ name }) => `\`${name}\``).join(', ')
  throw new PlatformError(
    'CONFLICT',
    `you own ${names}, which has other members: transfer it (svc workspace offer transfer EMAIL), name a successor who accepts (svc workspace offer successor EMAIL), or remove the other members`,
  )
}

async function endIn({ scope, kind, closes, next }: Ending, tx: Transaction, now: number, person: Recipient) {
  if (closes) await revokeAllKeys(scope, tx, now)
  // The name of a personal workspace contains a part of the address.
  if (closes && kind === 'personal') await renameWorkspace(scope, tx, { name: 'closed workspace', kind })
  if (next !== null) {
    await transferOwnership(scope, tx, now, next)
    await noteChange(scope, tx, now, 'member.became', next.person_id, { role: 'owner' })
  }
  await removeFrom(scope, tx, now, person)
  await noteChange(scope, tx, now, 'member.left', person.person_id, {})
}

async function revokeAllKeys(scope: Scope, tx: Transaction, now: number): Promise<void> {
  for (const { id, revoked_at } of await readKeys(scope, tx)) {
    if (revoked_at !== null) continue
    await revokeKey(scope, tx, id, isoTime(now))
    await noteChange(scope, tx, now, 'api_key.revoked', id, {})
  }
}
