// The first start: one workspace, one key, and what opens them on this machine.
import { randomBytes } from 'node:crypto'
import type { Config } from '../config.js'
import type { Credentials } from '../credentials.js'
import { newId } from '../ids.js'
import { type Database, type Transaction, withUnscopedTransaction } from '../store/db.js'
import { recordEvents } from '../store/events.js'
import {
  findKeyUnscoped,
  firstOrganizationUnscoped,
  insertKeyUnscoped,
  insertOrganizationUnscoped,
  keyHash,
} from '../store/organizations.js'
import { scopeOf } from '../store/scope.js'

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
    const org_id = (await firstOrganizationUnscoped(tx)) ?? (await makeWorkspace(tx, now))
    const keys = { 'first key': credentials.api_key, 'seed key': config.seed_api_key }
    for (const [name, key] of Object.entries(keys)) {
      if (key !== null) await admitKey(tx, now, org_id, name, key)
    }
    return org_id
  })
}

async function makeWorkspace(tx: Transaction, now: number): Promise<string> {
  const org_id = `org_${randomBytes(16).toString('hex')}`
  await insertOrganizationUnscoped(tx, now, org_id, 'My workspace')
  await note(tx, now, org_id, { kind: 'workspace.created', subject_kind: 'workspace', subject_id: org_id })
  return org_id
}

async function admitKey(tx: Transaction, now: number, org_id: string, name: string, key: string): Promise<void> {
  const hash = keyHash(key)
  if ((await findKeyUnscoped(tx, hash)) !== null) return
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
