// The sealed secrets of the database, for a change of the encryption key.

import type { Transaction } from '../db/db.js'
import type { Sealer } from './seal.js'

/** The ids of the keys that secrets are sealed with. */
export async function sealingKeysUnscoped(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select distinct split_part(sealed_subject_key, ' ', 2) as id from org_log where sealed_subject_key is not null`,
  )
  return rows.map(({ id }) => id)
}

/** The sealing context of an organization's key for subjects. */
export function subjectKeyContext(org_id: string): string {
  return `subject_key ${org_id}`
}

/** Seals every secret with the sealer's first key; returns how many it changed. Rejects with ENCRYPTION_KEY_INVALID. */
export async function sealAgainUnscoped(tx: Transaction, sealer: Sealer): Promise<number> {
  const rows = await tx.query<{ org_id: string; subject_key: Buffer | null; sealed_subject_key: string | null }>(
    'select org_id, subject_key, sealed_subject_key from org_log order by org_id for update',
  )
  let changed = 0
  for (const { org_id, subject_key, sealed_subject_key: sealed } of rows) {
    if (sealed !== null && sealer.isCurrent(sealed)) continue
    const context = subjectKeyContext(org_id)
    const secret = sealed === null ? subject_key : sealer.open(context, sealed)
    const again = secret === null ? null : sealer.seal(context, secret)
    if (again === null) continue
    await tx.query('update org_log set sealed_subject_key = $2, subject_key = null where org_id = $1', [org_id, again])
    changed += 1
  }
  return changed
}

/** Stores the check value of the encryption key if the database has none, and returns the stored one. */
export async function keyCheckUnscoped(tx: Transaction, proposed: string): Promise<string> {
  await tx.query('insert into svc_encryption_check (sealed) values ($1) on conflict do nothing', [proposed])
  const [row] = await tx.query<{ sealed: string }>('select sealed from svc_encryption_check')
  return row?.sealed ?? proposed
}

/** Replaces the check value of the encryption key. */
export async function replaceKeyCheckUnscoped(tx: Transaction, sealed: string): Promise<void> {
  await tx.query(
    'insert into svc_encryption_check (sealed) values ($1) on conflict (only_row) do update set sealed = excluded.sealed',
    [sealed],
  )
}
