// The first start: creates one workspace, one API key and the credentials of this install.
import type { Config } from '../../config.js'
import { type Database, type Transaction, withUnscopedTransaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import { scopeOf } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { secretHash } from '../../secrets/secret-hash.js'
import { type Credentials, newApiKey, newOperatorToken, readCredentials, storeCredentials } from '../credentials.js'
import {
  firstOrganizationUnscoped,
  insertKeyUnscoped,
  isSpentUnscoped,
  lockOrganizationsUnscoped,
} from '../store/organizations.js'
import {
  findPersonUnscoped,
  hasOwnerUnscoped,
  insertMembershipUnscoped,
  insertPersonUnscoped,
} from '../store/people.js'
import { makeWorkspace, type StartWorkspace } from './make-workspace.js'

interface Seeded {
  readonly org_id: string
  readonly credentials: Credentials
}

/**
 * Creates the first workspace, its first key and the credentials of this install, and adds the seed key where one is configured.
 * Later starts change nothing. When several processes share a server, the one that creates the workspace also creates the key.
 */
export async function seedWorkspace(
  db: Database,
  config: Config,
  now: number,
  startWorkspace: StartWorkspace,
): Promise<Seeded> {
  const known = readCredentials(config)
  return withUnscopedTransaction(db, async (tx) => {
    await lockOrganizationsUnscoped(tx)
    const first = await firstOrganizationUnscoped(tx)
    const org_id = first ?? (await makeWorkspace(tx, now, 'My workspace', null, startWorkspace))
    await setOwner(tx, now, org_id, config.owner_email)
    // Only this install uses its embedded database, so a start without credentials creates new ones.
    const makesKey = first === null || db.kind === 'pglite'
    const api_key = known?.api_key ?? (makesKey ? newApiKey() : null)
    if (makesKey && api_key !== null) await addKey(tx, now, org_id, 'first key', api_key)
    if (config.seed_api_key !== null) await addKey(tx, now, org_id, 'seed key', config.seed_api_key)
    const credentials = { api_key, operator_token: known?.operator_token ?? newOperatorToken() }
    // The file is written before the commit: a key in the database alone would be lost.
    if (known === null || known.api_key !== api_key) storeCredentials(config, credentials)
    return { org_id, credentials: { api_key, operator_token: config.operator_token ?? credentials.operator_token } }
  })
}

/** Makes the account of SVC_OWNER_EMAIL the owner of the first workspace. The start prints its sign-in link. */
async function setOwner(tx: Transaction, now: number, org_id: string, email: string): Promise<void> {
  if (await hasOwnerUnscoped(tx, org_id)) return
  const known = await findPersonUnscoped(tx, email)
  const person_id = known?.person_id ?? newId('usr', now)
  const name = email.split('@')[0] ?? email
  if (known === null) await insertPersonUnscoped(tx, now, { person_id, email, name, is_capped: false })
  await insertMembershipUnscoped(tx, now, { org_id, person_id, role: 'owner' })
}

async function addKey(tx: Transaction, now: number, org_id: string, name: string, key: string): Promise<void> {
  const hash = secretHash(key)
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
