// The sealed secrets of the database, for a change of the encryption key.

import type { Transaction } from '../db/db.js'
import type { Sealer } from './seal.js'

/** The sealing context of an organization's key for subjects. */
export function subjectKeyContext(org_id: string): string {
  return `subject_key ${org_id}`
}

/** The context that the token of a repository is sealed for. */
export function tokenContext(org_id: string, repo_id: number | string): string {
  return `repository_token ${org_id} ${repo_id}`
}

/** The context that the webhook secret of a repository is sealed for. */
export function webhookContext(org_id: string, repo_id: number | string): string {
  return `webhook_secret ${org_id} ${repo_id}`
}

/** The context that the address of the receiver of an action is sealed for. */
export function actionTargetContext(org_id: string, action_id: string): string {
  return `action_target ${org_id} ${action_id}`
}

/** The context that the signing secrets of an action are sealed for. */
export function actionSecretContext(org_id: string, action_id: string): string {
  return `action_secret ${org_id} ${action_id}`
}

interface SealedColumn {
  readonly table: string
  readonly column: string
  /** The column that, with `org_id`, identifies the row; null for one row per organization. */
  readonly id: string | null
  readonly context: (org_id: string, id: string) => string
  /** A new secret can be entered where it cannot be opened: with an embedded database the platform starts without it. */
  readonly is_replaceable: boolean
}

/** Every column with sealed secrets, besides the check value of the key. */
const sealedColumns: readonly SealedColumn[] = [
  { table: 'org_log', column: 'sealed_subject_key', id: null, context: subjectKeyContext, is_replaceable: false },
  { table: 'repositories', column: 'sealed_token', id: 'id', context: tokenContext, is_replaceable: true },
  { table: 'repositories', column: 'sealed_webhook_secret', id: 'id', context: webhookContext, is_replaceable: true },
  { table: 'actions', column: 'sealed_target', id: 'id', context: actionTargetContext, is_replaceable: true },
  { table: 'actions', column: 'sealed_secret', id: 'id', context: actionSecretContext, is_replaceable: true },
  { table: 'actions', column: 'sealed_previous_secret', id: 'id', context: actionSecretContext, is_replaceable: true },
]

/** The ids of the keys that secrets are sealed with. */
export async function sealingKeysUnscoped(tx: Transaction): Promise<{ id: string; is_replaceable: boolean }[]> {
  const each = sealedColumns.map(
    ({ table, column, is_replaceable }) =>
      `select split_part(${column}, ' ', 2) as id, ${is_replaceable} as is_replaceable from ${table} where ${column} is not null`,
  )
  return tx.query<{ id: string; is_replaceable: boolean }>(each.join(' union '))
}

/** Seals every secret with the sealer's first key; returns how many it changed. Rejects with ENCRYPTION_KEY_INVALID. */
export async function sealAgainUnscoped(tx: Transaction, sealer: Sealer): Promise<number> {
  let changed = await sealPlainUnscoped(tx, sealer)
  for (const column of sealedColumns) changed += await sealColumnUnscoped(tx, sealer, column)
  return changed
}

/** Seals the keys for subjects that were not used before. */
async function sealPlainUnscoped(tx: Transaction, sealer: Sealer): Promise<number> {
  const rows = await tx.query<{ org_id: string; subject_key: Buffer }>(
    'select org_id, subject_key from org_log where sealed_subject_key is null order by org_id for update',
  )
  for (const { org_id, subject_key } of rows)
    await tx.query('update org_log set sealed_subject_key = $2, subject_key = null where org_id = $1', [
      org_id,
      sealer.seal(subjectKeyContext(org_id), subject_key),
    ])
  return rows.length
}

async function sealColumnUnscoped(tx: Transaction, sealer: Sealer, sealed: SealedColumn): Promise<number> {
  const { table, column, context } = sealed
  const id = sealed.id ?? '0'
  const rows = await tx.query<{ org_id: string; id: string; text: string }>(
    `select org_id, ${id}::text as id, ${column} as text from ${table} where ${column} is not null order by 1, 2 for update`,
  )
  const outdated = rows.filter(({ text }) => !sealer.isCurrent(text))
  for (const row of outdated) {
    const place = context(row.org_id, row.id)
    const again = sealer.seal(place, sealer.open(place, row.text))
    await tx.query(`update ${table} set ${column} = $1 where org_id = $2 and ${id}::text = $3`, [
      again,
      row.org_id,
      row.id,
    ])
  }
  return outdated.length
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
