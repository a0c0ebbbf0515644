// A question of a local engine that expired: the action that waited for the approval of a person (docs/adr/0060-effects.md).
import { createHmac } from 'node:crypto'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { derivedKey } from '../ledger/subjects.js'
import type { Sealer } from '../secrets/seal.js'

export interface Question {
  /** The action, as `actionHashes` makes it. */
  readonly action: Buffer
  /** When the engine asked, ms since 1970. */
  readonly asked_at: number
}

/** A logged step that was executed, and that a gate had approved for a policy. */
export interface ApprovedStep {
  readonly agent_id: string
  readonly task_id: string
  readonly policy_id: number
  /** As that of a question. */
  readonly action: Buffer
  /** The step of the gate. */
  readonly approved_by_step: number
  readonly step: number
  readonly log_index: number
  /** The earlier of the time that its sender states and of its arrival, ms since 1970. */
  readonly at: number
}

/** Makes the keyed hash of an action in a task from its digest: the digest itself could confirm a guess of erased content. */
export async function actionHashes(
  scope: Scope,
  tx: Transaction,
  sealer: Sealer,
): Promise<(task_id: string, action_digest: string) => Buffer> {
  const key = await derivedKey(scope, tx, sealer, 'questions')
  return (task_id, action_digest) => createHmac('sha256', key).update(`${task_id}\0${action_digest}`).digest()
}
