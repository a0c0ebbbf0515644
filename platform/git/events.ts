// Events about repositories and assignments.
import type { Assignment, Repository } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { recordEvents } from '../ledger/events.js'

type Data = Readonly<Record<string, unknown>>
type Named = Pick<Assignment, 'id' | 'agent_id' | 'repo_id' | 'manifest_path' | 'manifest_sha'>

/** Records that an assignment changed, with what identifies it and `more`; the leaf alone holds `in_leaf`. */
export async function noteAssignment(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  { id, agent_id, repo_id, manifest_path, manifest_sha }: Named,
  more: Data = {},
  in_leaf: Data = {},
): Promise<void> {
  const data = { agent_id, repo_id, manifest_path, manifest_sha, ...more }
  await recordEvents(scope, tx, now, [{ kind, subject_kind: 'assignment', subject_id: String(id), data, in_leaf }])
}

/** Records that a repository changed. */
export async function noteRepository(
  scope: Scope,
  tx: Transaction,
  now: number,
  kind: string,
  { id, owner, name, branch }: Pick<Repository, 'id' | 'owner' | 'name' | 'branch'>,
  more: Data = {},
): Promise<void> {
  const data = { owner, name, branch, ...more }
  await recordEvents(scope, tx, now, [{ kind, subject_kind: 'repository', subject_id: String(id), data }])
}
