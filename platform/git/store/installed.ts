// Connected repositories by GitHub's own ids.
import type { Repository } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { raw, read, rowsOf } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'

/** A connection of a repository of GitHub. */
export interface InstalledRow
  extends Pick<Repository, 'id' | 'owner' | 'name' | 'branch' | 'visibility' | 'installation_id' | 'last_commit_sha'> {
  /** Null for a connection that no installation has covered. */
  readonly github_id: number | null
}

const columns = 'id, owner, name, branch, visibility, installation_id, github_id, last_commit_sha'

interface Wanted {
  readonly ids?: readonly number[]
  readonly installation_id?: number
  /** Null or undefined: all. */
  readonly github_ids?: readonly number[] | null
}

/** The connections that an installation covers or has covered, the oldest first. */
export async function installedRepositories(
  scope: Scope,
  tx: Transaction,
  { ids, installation_id, github_ids }: Wanted,
): Promise<InstalledRow[]> {
  const repositories = rowsOf(scope, 'repositories').whereNull('removed_at').whereNotNull('github_id')
  if (ids !== undefined) repositories.whereRaw('id = any(?)', [[...ids]])
  if (installation_id !== undefined) repositories.where({ installation_id })
  if (github_ids) repositories.whereRaw('github_id = any(?)', [[...github_ids]])
  return read<InstalledRow>(tx, repositories.orderBy('id').select(raw(columns)))
}

/** The paths that active assignments of a connection name: any file can be a manifest. */
export async function assignedPaths(scope: Scope, tx: Transaction, repo_id: number): Promise<ReadonlySet<string>> {
  const rows = await tx.query<{ manifest_path: string }>(
    'select distinct manifest_path from assignments where org_id = $1 and repo_id = $2 and removed_at is null',
    [scope.org_id, repo_id],
  )
  return new Set(rows.map(({ manifest_path }) => manifest_path))
}

/** The connections of the repository that has this name at GitHub. */
export async function namesakes(
  scope: Scope,
  tx: Transaction,
  { owner, name }: Pick<InstalledRow, 'owner' | 'name'>,
): Promise<InstalledRow[]> {
  return tx.query<InstalledRow>(
    `select ${columns} from repositories where org_id = $1 and provider = 'github' and lower(owner) = lower($2)
       and lower(name) = lower($3) and removed_at is null order by id`,
    [scope.org_id, owner, name],
  )
}

export async function setInstallation(
  scope: Scope,
  tx: Transaction,
  id: number,
  { installation_id, github_id }: Pick<InstalledRow, 'installation_id' | 'github_id'>,
): Promise<void> {
  await tx.query('update repositories set installation_id = $3, github_id = $4 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    installation_id,
    github_id,
  ])
}

export async function renameRepository(
  scope: Scope,
  tx: Transaction,
  id: number,
  { owner, name }: Pick<InstalledRow, 'owner' | 'name'>,
): Promise<void> {
  await tx.query('update repositories set owner = $3, name = $4 where org_id = $1 and id = $2', [
    scope.org_id,
    id,
    owner,
    name,
  ])
}

/** For every connection of the repository. */
export async function setVisibility(
  scope: Scope,
  tx: Transaction,
  github_id: number,
  visibility: Repository['visibility'],
): Promise<void> {
  await tx.query(
    `update repositories set visibility = $3
     where org_id = $1 and github_id = $2 and removed_at is null and visibility <> $3`,
    [scope.org_id, github_id, visibility],
  )
}
