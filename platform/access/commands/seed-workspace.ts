// The first start: one workspace, one key, and what opens them on this machine.
import type { Config } from '../../config.js'
import { type Database, type Transaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import { scopeOf } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { type Credentials, keepCredentials, newApiKey, newOperatorToken, readCredentials } from '../credentials.js'
import {
  firstOrganizationUnscoped,
  insertKeyUnscoped,
  isSpentUnscoped,
  keyHash,
  lockOrganizationsUnscoped,
} from '../store/organizations.js'
import {
  findPersonUnscoped,
  hasOwnerUnscoped,
  insertMembershipUnscoped,
  insertPersonUnscoped,
} from '../store/people.js'
import { makeWorkspace } from './make-workspace.js'

export interface Seeded {
  readonly org_id: string
  readonly credentials: Credentials
}

/**
 * Makes the first workspace, its first key and the credentials of this install, and admits the seed key when it is configured.
 * Starting again changes nothing. Of processes that start on one server, the one that makes the workspace makes the key.
 */
export async function seedWorkspace(db: Database, config: Config, now: number): Promise<Seeded> {
  const known = readCredentials(config)
  return withUnscopedTransaction(db, async (tx) => {
    await lockOrganizationsUnscoped(tx)
    const first = await firstOrganizationUnscoped(tx)
    const org_id = first ?? (await makeWorkspace(tx, now, 'My workspace', null))
    await giveOwner(tx, now, org_id, config.owner_email)
    // An embedded database is this install's alone: where its credentials are lost, a start makes others.
    const makesKey = first === null || db.kind === 'pglite'
    const api_key = known?.api_key ?? (makesKey ? newApiKey() : null)
    if (makesKey && api_key !== null) await admitKey(tx, now, org_id, 'first key', api_key)
    if (config.seed_api_key !== null) await admitKey(tx, now, org_id, 'seed key', config.seed_api_key)
    const credentials = { api_key, operator_token: known?.operator_token ?? newOperatorToken() }
    // Before the commit: nobody would know a key that was stored and not written down.
    if (known === null || known.api_key !== api_key) keepCredentials(config, credentials)
    return { org_id, credentials: { api_key, operator_token: config.operator_token ?? credentials.operator_token } }
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
