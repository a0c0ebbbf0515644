// A reading or an assignment that begins to fail, and a version that is held, trigger actions: once, not at each repetition.
import type { Assignment, Condition, Repository } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { queueDeliveries, type Triggering } from '../incidents/actions/triggers.js'
import type { NewCondition } from './conditions.js'

/** An assignment whose version at the head cannot be put in force. Another reason is another failure. */
export function noteFailed(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  { id, agent_id, repo_id, manifest_path, conditions: known }: Assignment,
  conditions: readonly NewCondition[],
): Promise<void> {
  const first = firstNew(known, conditions)
  if (first === null) return Promise.resolve()
  const { kind, message } = first
  const data = { assignment: { id, agent_id, repo_id, manifest_path, condition: kind, message } }
  const subject = { subject_kind: 'assignment', subject_id: `assignment_${id}` } as const
  return queueDeliveries(triggering, scope, tx, now, [{ on: 'resync.failed', ...subject, agent_id, data }])
}

/** A version that waits for an approval. */
export function noteHeld(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  { id, agent_id, repo_id, manifest_path, held_sha: known }: Assignment,
  held_sha: string,
  [condition]: readonly NewCondition[],
): Promise<void> {
  if (known === held_sha) return Promise.resolve()
  const data = { assignment: { id, agent_id, repo_id, manifest_path, held_sha, message: condition?.message ?? '' } }
  const subject = { subject_kind: 'assignment', subject_id: `assignment_${id}` } as const
  return queueDeliveries(triggering, scope, tx, now, [{ on: 'assignment.held', ...subject, agent_id, data }])
}

/** A branch that cannot be read. */
export function noteUnreadable(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  repository: Pick<Repository, 'id' | 'owner' | 'name' | 'branch'> & { readonly conditions: readonly Condition[] },
  conditions: readonly NewCondition[],
): Promise<void> {
  const first = firstNew(repository.conditions, conditions)
  if (first === null) return Promise.resolve()
  const { id, owner, name, branch } = repository
  const data = { repository: { id, owner, name, branch, condition: first.kind, message: first.message } }
  const subject = { subject_kind: 'repository', subject_id: `repository_${id}` } as const
  return queueDeliveries(triggering, scope, tx, now, [{ on: 'resync.failed', ...subject, data }])
}

/** The first condition of a kind that was not there before: messages can differ from one reading to the next. */
function firstNew(known: readonly NewCondition[], found: readonly NewCondition[]): NewCondition | null {
  return found.find(({ kind }) => known.every((one) => one.kind !== kind)) ?? null
}
