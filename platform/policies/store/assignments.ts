// Assignments of manifests to agents. `repo_id` is null for the baseline.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { nextIds } from './policies.js'

interface NewAssignment {
  readonly agent_id: string
  readonly repo_id: number | null
  readonly manifest_path: string
  readonly manifest_sha: string
  readonly manifest_name: string
  readonly manifest_id: string
}

export async function insertAssignment(
  scope: Scope,
  tx: Transaction,
  now: number,
  assignment: NewAssignment,
): Promise<number> {
  const id = await nextIds(scope, tx, 'assignment', 1)
  const { agent_id, repo_id, manifest_path, manifest_sha, manifest_name, manifest_id } = assignment
  await tx.query(
    `insert into assignments (org_id, id, agent_id, repo_id, manifest_path, manifest_sha, manifest_name, manifest_id,
       waivers, status, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, '[]', 'synced', $9)`,
    [scope.org_id, id, agent_id, repo_id, manifest_path, manifest_sha, manifest_name, manifest_id, isoTime(now)],
  )
  return id
}

/** Manifests in effect for an agent, in the order they were assigned. */
export async function manifestsOf(scope: Scope, tx: Transaction, agent_id: string) {
  return tx.query<{ manifest_id: string; name: string; repo: string | null; path: string; sha: string }>(
    `select manifest_id, manifest_name as name, repo_id::text as repo, manifest_path as path, manifest_sha as sha
     from assignments where org_id = $1 and agent_id = $2 and removed_at is null order by id`,
    [scope.org_id, agent_id],
  )
}
