// What is kept sealed, for an operator who changes the encryption key.

import type { Transaction } from '../db/db.js'
import type { Sealer } from './seal.js'

/** Names of the keys that something is sealed with. */
export async function sealingKeysUnscoped(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(
    `select distinct split_part(sealed_subject_key, ' ', 2) as id from org_log where sealed_subject_key is not null`,
  )
  return rows.map(({ id }) => id)
}

/** Where the key of an organization's subjects stands, as sealing knows it. */
export function subjectKeyPlace(org_id: string): string {
  return `subject_key ${org_id}`
}

/** Seals everything with the sealer's first key; how many secrets that changed. Rejects with ENCRYPTION_KEY_INVALID. */
export async function sealAgainUnscoped(tx: Transaction, sealer: Sealer): Promise<number> {
  const rows = await tx.query<{ org_id: string; subject_key: Buffer | null; sealed_subject_key: string | null }>(
    'select org_id, subject_key, sealed_subject_key from org_log order by org_id for update',
  )
  let changed = 0
  for (const { org_id, subject_key, sealed_subject_key: sealed } of rows) {
    if (sealed !== null && sealer.isCurrent(sealed)) continue
    const place = subjectKeyPlace(org_id)
    const secret = sealed === null ? subject_key : sealer.open(place, sealed)
    const again = secret === null ? null : sealer.seal(place, secret)
    if (again === null) continue
    await tx.query('update org_log set sealed_subject_key = $2, subject_key = null where org_id = $1', [org_id, again])
    changed += 1
  }
  return changed
}

/** Stores the check value of the encryption key where the database has none, and returns the one it has. */
export async function keyCheckUnscoped(tx: Transaction, proposed: string): Promise<string> {
  await tx.query('insert into svc_encryption_check (sealed) values ($1) on conflict do nothing', [proposed])
  const [row] = await tx.query<{ sealed: string }>('select sealed from svc_encryption_check')
  return row?.sealed ?? proposed
}

/** Replaces the check value: from now on processes need the key that sealed this one. */
export async function replaceKeyCheckUnscoped(tx: Transaction, sealed: string): Promise<void> {
  await tx.query(
    'insert into svc_encryption_check (sealed) values ($1) on conflict (only_row) do update set sealed = excluded.sealed',
    [sealed],
  )
}
