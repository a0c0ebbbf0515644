// The entries that carry data of a subject. A subject is stored as a keyed hash, which reveals nothing after its rows are deleted.
import { createHmac } from 'node:crypto'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { Sealer } from '../secrets/seal.js'
import { subjectKeyContext } from '../secrets/store.js'

export interface NamedSubject {
  readonly subject: string
  readonly log_index: number
}

/** Stores the subjects of these entries. */
export async function rememberSubjects(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  named: readonly NamedSubject[],
): Promise<void> {
  if (named.length === 0) return
  const key = await subjectKey(scope, tx, sealer)
  await tx.query(
    `insert into subject_places (org_id, subject, log_index)
     select $1, u.subject, u.log_index from unnest($2::bytea[], $3::bigint[]) as u(subject, log_index)`,
    [scope.org_id, named.map(({ subject }) => hashed(key, subject)), named.map(({ log_index }) => log_index)],
  )
}

/** Log indexes of the entries that name the subject and are not erased, ascending. */
export async function indexesOfSubject(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
  subject: string,
): Promise<number[]> {
  const rows = await tx.query<{ log_index: number }>(
    'select log_index from subject_places where org_id = $1 and subject = $2 order by log_index',
    [scope.org_id, hashed(await subjectKey(scope, tx, sealer), subject)],
  )
  return rows.map(({ log_index }) => log_index)
}

/** Deletes the subjects of these entries. */
export async function forgetSubjects(scope: Scope, tx: Transaction, log_indexes: readonly number[]): Promise<void> {
  await tx.query('delete from subject_places where org_id = $1 and log_index = any($2::bigint[])', [
    scope.org_id,
    log_indexes,
  ])
}

/** The key of the hashes; sealed at its first use when an encryption key is configured. The log must be locked. */
async function subjectKey(scope: Scope, tx: Transaction, sealer: Sealer): Promise<Buffer> {
  const { key, is_sealed } = await readKey(scope, tx, sealer)
  const sealed = is_sealed ? null : sealer.seal(subjectKeyContext(scope.org_id), key)
  if (sealed !== null)
    await tx.query('update org_log set sealed_subject_key = $2, subject_key = null where org_id = $1', [
      scope.org_id,
      sealed,
    ])
  return key
}

async function readKey({ org_id }: Scope, tx: Transaction, { open }: Sealer) {
  const [row] = await tx.query<{ subject_key: Buffer | null; sealed: string | null }>(
    'select subject_key, sealed_subject_key as sealed from org_log where org_id = $1',
    [org_id],
  )
  if (typeof row?.sealed === 'string') return { key: open(subjectKeyContext(org_id), row.sealed), is_sealed: true }
  const key = row?.subject_key
  if (key === undefined || key === null) throw new Error(`organization \`${org_id}\` has no log`)
  return { key, is_sealed: false }
}

/** The key, as text, of digests for another purpose, such as `memory`. It does not lead to the key of the subjects. */
export async function derivedKey(scope: Scope, tx: Transaction, sealer: Sealer, purpose: string): Promise<string> {
  const { key } = await readKey(scope, tx, sealer)
  return hashed(key, `svc ${purpose}`).toString('hex')
}

function hashed(key: Buffer, subject: string): Buffer {
  return createHmac('sha256', key).update(subject).digest()
}
