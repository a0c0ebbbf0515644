// The assignments of changed manifests, and the policies that they put in effect.
import type { Assignment } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'

export type ChangedAssignment = Pick<Assignment, 'id' | 'agent_id' | 'manifest_path' | 'manifest_sha' | 'pinned_sha'>

/** The active assignments of these manifests of a repository. */
export async function assignmentsOfManifests(
  scope: Scope,
  tx: Transaction,
  repo_id: number,
  manifest_paths: readonly string[],
): Promise<ChangedAssignment[]> {
  return tx.query<ChangedAssignment>(
    `select id, agent_id, manifest_path, manifest_sha, pinned_sha from assignments
     where org_id = $1 and repo_id = $2 and manifest_path = any($3::text[]) and removed_at is null order by id`,
    [scope.org_id, repo_id, manifest_paths],
  )
}

/** The ids of the policies that these assignments have in effect. */
export async function policyIdsOf(
  scope: Scope,
  tx: Transaction,
  assignment_ids: readonly number[],
): Promise<ReadonlySet<number>> {
  const rows = await tx.query<{ id: number }>(
    `select id from policies
     where org_id = $1 and assignment_id = any($2::bigint[]) and until_index is null and enabled and deleted_at is null`,
    [scope.org_id, assignment_ids],
  )
  return new Set(rows.map(({ id }) => id))
}
