// The first start: one workspace, one key, and what opens them on this machine.
import type { Config } from '../config.js'
import type { Credentials } from '../credentials.js'
import { newId } from '../ids.js'
import { type Database, type Transaction, withUnscopedTransaction } from '../store/db.js'
import { recordEvents } from '../store/events.js'
import { firstOrganizationUnscoped, insertKeyUnscoped, isSpentUnscoped, keyHash } from '../store/organizations.js'
import {
  findPersonUnscoped,
  hasOwnerUnscoped,
  insertMembershipUnscoped,
  insertPersonUnscoped,
} from '../store/people.js'
import { scopeOf } from '../store/scope.js'
import { makeWorkspace } from './make-workspace.js'

/**
 * Sees to it that a workspace exists and that the local key and, when configured, the seed key open it. Starting again
 * changes nothing. Processes that start together on one server take turns.
 */
export async function seedWorkspace(
  db: Database,
  config: Config,
  credentials: Credentials,
  now: number,
): Promise<string> {
  return withUnscopedTransaction(db, async (tx) => {
    await tx.query('lock table organizations in exclusive mode')
    const org_id = (await firstOrganizationUnscoped(tx)) ?? (await makeWorkspace(tx, now, 'My workspace', null))
    await giveOwner(tx, now, org_id, config.owner_email)
    const keys = { 'first key': credentials.api_key, 'seed key': config.seed_api_key }
    for (const [name, key] of Object.entries(keys)) {
      if (key !== null) await admitKey(tx, now, org_id, name, key)
    }
    return org_id
  })
}

/** The first workspace is somebody's: whoever opens the link that the start prints. */
async function giveOwner(tx: Transaction, now: number, org_id: string, email: string): Promise<void> {
  if (await hasOwnerUnscoped(tx, org_id)) return
  const known = await findPersonUnscoped(tx, email)
  const person_id = known?.person_id ?? newId('usr', now)
  const name = email.split('@')[0] ?? email
  if (known === null) await insertPersonUnscoped(tx, now, { person_id, email, name, is_capped: false })
  await insertMembershipUnscoped(tx, now, { org_id, person_id, role: 'owner' })
}

async function admitKey(tx: Transaction, now: number, org_id: string, name: string, key: string): Promise<void> {
  const hash = keyHash(key)
  if (await isSpentUnscoped(tx, hash)) return
  const key_id = newId('key', now)
  await insertKeyUnscoped(tx, now, { org_id, key_id, hash, name })
  await note(tx, now, org_id, { kind: 'api_key.created', subject_kind: 'api_key', subject_id: key_id })
}

async function note(
  tx: Transaction,
  now: number,
  org_id: string,
  event: { kind: string; subject_kind: string; subject_id: string },
) {
  await recordEvents(scopeOf(org_id, { kind: 'system', id: 'start' }), tx, now, [{ ...event, data: {} }])
}
