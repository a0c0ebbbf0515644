// When each version of an assignment was in force, in log indexes and times.
import { type AssignmentVersionList, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'

interface NewVersion {
  readonly assignment_id: number
  readonly manifest_sha: string
  readonly commit_sha: string | null
}

/** Ends the version in force at a log index. */
export async function endVersion(
  scope: Scope,
  tx: Transaction,
  now: number,
  assignment_id: number,
  log_index: number,
): Promise<void> {
  await tx.query(
    `update assignment_versions set until_index = $3, until_at = $4
     where org_id = $1 and assignment_id = $2 and until_index is null`,
    [scope.org_id, assignment_id, log_index, isoTime(now)],
  )
}

export async function beginVersion(
  scope: Scope,
  tx: Transaction,
  now: number,
  { assignment_id, manifest_sha, commit_sha }: NewVersion,
  log_index: number,
): Promise<void> {
  await tx.query(
    `insert into assignment_versions (org_id, assignment_id, number, manifest_sha, commit_sha, from_index, from_at, put_by)
     select $1, $2, coalesce(max(number), 0) + 1, $3, $4, $5, $6, $7 from assignment_versions
     where org_id = $1 and assignment_id = $2`,
    [scope.org_id, assignment_id, manifest_sha, commit_sha, log_index, isoTime(now), scope.actor.id],
  )
}

/** The versions that an assignment ever had in force, the latest first. */
export async function versionsOf(scope: Scope, tx: Transaction, assignment_id: number) {
  return tx.query<AssignmentVersionList['versions'][number]>(
    `select manifest_sha, commit_sha, ${utc('from_at')}, ${utc('until_at')}, put_by from assignment_versions
     where org_id = $1 and assignment_id = $2 order by number desc`,
    [scope.org_id, assignment_id],
  )
}

/** A version of an assignment that is pinned to tasks; the one in force has no end. */
export interface TaskVersion {
  readonly assignment_id: number
  readonly agent_id: string
  readonly manifest_id: string
  readonly manifest_sha: string
  readonly from_index: number
  readonly until_index: number | null
  readonly until_at: string | null
}

/** The versions of the assignments of these agents that are pinned to tasks, in order. */
export async function taskVersions(
  scope: Scope,
  tx: Transaction,
  agent_ids: readonly string[],
): Promise<TaskVersion[]> {
  return tx.query<TaskVersion>(
    `select v.assignment_id, a.agent_id, a.manifest_id, v.manifest_sha, v.from_index, v.until_index, ${utc('v.until_at')}
     from assignments a join assignment_versions v on v.org_id = a.org_id and v.assignment_id = a.id
     where a.org_id = $1 and a.agent_id = any($2::text[]) and a.removed_at is null and a.pin = 'task'
     order by v.assignment_id, v.number`,
    [scope.org_id, agent_ids],
  )
}
