// The texts of manifests that were ever in force, or that waited for it at the head of a branch, each stored once per organization, by Git's id of it.
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

export async function keepText(scope: Scope, tx: Transaction, blob_sha: string, body: string): Promise<void> {
  await tx.query('insert into manifest_texts (org_id, blob_sha, body) values ($1, $2, $3) on conflict do nothing', [
    scope.org_id,
    blob_sha,
    body,
  ])
}

/** The text; null when it was neither in force nor waited for it. */
export async function readText(scope: Scope, tx: Transaction, blob_sha: string): Promise<string | null> {
  const [row] = await tx.query<{ body: string }>(
    'select body from manifest_texts where org_id = $1 and blob_sha = $2',
    [scope.org_id, blob_sha],
  )
  return row?.body ?? null
}
