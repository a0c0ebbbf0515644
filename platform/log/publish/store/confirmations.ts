// Questions of processes without the signing key, and the answers of one that has it.
import type { Transaction } from '../../../db/db.js'

/** Asks for a confirmation under a random id. */
export async function askUnscoped(tx: Transaction, id: string): Promise<void> {
  await tx.query('insert into log_confirmations (id) values ($1)', [id])
}

export interface Asked {
  readonly id: string
  readonly is_confirmed: boolean
}

/**
 * Renews a question. A confirmed one continues under `next_id`, so that the copy in a backup is not valid again after a restore.
 * Null when the question is no longer in the database.
 */
export async function renewUnscoped(tx: Transaction, id: string, next_id: string): Promise<Asked | null> {
  const [row] = await tx.query<Asked>(
    `update log_confirmations set id = case when confirmed_at is null then id else $2 end, renewed_at = now()
     where id = $1 returning id, confirmed_at is not null as is_confirmed`,
    [id, next_id],
  )
  return row ?? null
}

export async function withdrawUnscoped(tx: Transaction, id: string): Promise<void> {
  await tx.query('delete from log_confirmations where id = $1', [id])
}

/** The questions that are not answered. */
export async function openQuestionsUnscoped(tx: Transaction): Promise<string[]> {
  const rows = await tx.query<{ id: string }>('select id from log_confirmations where confirmed_at is null')
  return rows.map(({ id }) => id)
}

/** Confirms these questions, and deletes those of processes that ended without withdrawing them. */
export async function confirmUnscoped(tx: Transaction, ids: readonly string[]): Promise<void> {
  await tx.query(`delete from log_confirmations where renewed_at < now() - interval '1 hour'`)
  await tx.query('update log_confirmations set confirmed_at = now() where id = any($1::text[])', [ids])
}
