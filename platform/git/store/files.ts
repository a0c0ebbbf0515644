// The manifests of connected repositories, as they were when the branch was last read.
import type { ListedManifest } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { equal, type Listed, read, rowsOf, total } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { readByIndex } from '../../db/sql.js'

/** A YAML file of a branch; `manifest` is false for one without policies. */
export interface FileRow extends Omit<ListedManifest, 'repo_id'> {
  readonly manifest: boolean
}

export async function filesOf(scope: Scope, tx: Transaction, repo_id: number): Promise<FileRow[]> {
  return tx.query<FileRow>(
    `select path, name, version, policies, blob_sha, size, valid, findings, manifest from repository_files
     where org_id = $1 and repo_id = $2 order by path`,
    [scope.org_id, repo_id],
  )
}

/** Replaces the manifests of a repository. */
export async function replaceFiles(
  scope: Scope,
  tx: Transaction,
  repo_id: number,
  files: readonly FileRow[],
): Promise<void> {
  await tx.query('delete from repository_files where org_id = $1 and repo_id = $2', [scope.org_id, repo_id])
  await tx.query(
    `insert into repository_files (org_id, repo_id, path, blob_sha, size, name, version, policies, valid, findings, manifest)
     select $1, $2, u.path, u.blob_sha, u.size, u.name, u.version, u.policies, u.valid, u.findings, u.manifest
     from json_to_recordset($3::json) as u(path text, blob_sha text, size bigint, name text, version text, policies integer,
       valid boolean, findings json, manifest boolean)`,
    [scope.org_id, repo_id, JSON.stringify(files)],
  )
}

/** Undefined selects all. */
interface ManifestFilter {
  readonly repo_id: number | undefined
  readonly path: string | undefined
  readonly valid: string | undefined
}

/** A page of the manifests of one repository, or of all, in the order of repositories and paths. */
export async function listFiles(
  scope: Scope,
  tx: Transaction,
  filter: ManifestFilter,
  {
    limit,
    after,
  }: { readonly limit: number; readonly after: { readonly repo_id: number; readonly path: string } | null },
): Promise<Listed<ListedManifest>> {
  await readByIndex(tx)
  const files = rowsOf(scope, 'repository_files f')
    .where(equal({ ...filter }))
    .whereRaw(
      `f.manifest and exists (
         select 1 from repositories r where r.org_id = f.org_id and r.id = f.repo_id and r.removed_at is null)`,
    )
  const all = await total(tx, files)
  if (after !== null) files.whereRaw('(f.repo_id, f.path) > (?, ?)', [after.repo_id, after.path])
  files.select('repo_id', 'path', 'name', 'version', 'policies', 'blob_sha', 'size', 'valid', 'findings')
  return { rows: await read(tx, files.orderBy(['repo_id', 'path']).limit(limit)), total: all }
}
