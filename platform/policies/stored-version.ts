// A version of a manifest that an assignment had in force, from its stored text: no Git host is asked.
import type { Assignment } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import type { BaselineParts } from './commands/put-baseline.js'
import type { ManifestVersion } from './commands/put-manifest.js'
import { readText } from './store/manifest-texts.js'

interface Wanted {
  readonly blob_sha: string
  readonly commit_sha: string | null
}

/** Null for a version whose text is not stored. */
export async function storedVersion(
  { manifests }: BaselineParts,
  scope: Scope,
  tx: Transaction,
  { repo_id, manifest_path: path, manifest_repo, ref }: Assignment,
  { blob_sha, commit_sha }: Wanted,
): Promise<ManifestVersion | null> {
  const text = await readText(scope, tx, blob_sha)
  if (text === null) return null
  const file = { path, blob_sha, text }
  const { value } = manifests.read(file)
  const source = manifest_repo ?? (repo_id === null ? 'baseline' : 'bundled')
  return value === null ? null : { file, manifest: value, source, commit_sha, ref }
}
