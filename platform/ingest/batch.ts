// The items, the state and the outcomes of a group commit.
import type { Task } from '@svc/engine'
import type { StoredHead } from '@svc/proof'
import type { Effect, LoggedStep } from '@svc/schemas'
import type { AgentRules } from '../agents/rulebook.js'
import type { PlatformError } from '../errors.js'
import type { KeyIdentity } from '../http/principal.js'
import type { CommittedPayload } from '../ledger/commitments.js'
import type { EarlierStep, LogState } from '../ledger/log.js'
import { commitPayload, type NewEntry } from './entry.js'
import type { MemoryOfBatch } from './memory.js'
import type { OriginsOfBatch } from './origins.js'
import type { StepRequest } from './step-request.js'

export interface Item {
  readonly key: KeyIdentity
  readonly request: StepRequest
  /** The commitments: made at the first call, or earlier while the database is busy. */
  readonly payload: () => CommittedPayload
}

/** A step that waits to be appended. */
export function itemOf(key: KeyIdentity, request: StepRequest): Item {
  let committed: CommittedPayload | undefined
  const payload = () => {
    committed ??= commitPayload(request)
    return committed
  }
  return { key, request, payload }
}

export type Outcome =
  | { readonly status: 200 | 201; readonly replayed: boolean; readonly entry: LoggedStep }
  | { readonly error: PlatformError }

/** An entry that this batch appends, with its evaluation. */
export interface AppendedEntry extends NewEntry {
  /** The subjects of its data, as its sender declares them. */
  readonly subjects: readonly string[]
  readonly rules: AgentRules
  readonly violations: LoggedStep['violations']
  readonly risk_score: number
  /** The evaluation that a local engine made of the step; null when the step names none. */
  readonly evaluation_id: string | null
  /** States if the step ran. */
  readonly effect: Effect
  /** Null for a step that did not run, and for one that no gate approved. */
  readonly approved: ApprovedAction | null
}

/** An action that a person approved before it was recorded. */
interface ApprovedAction {
  readonly action_digest: string
  /** The steps of the gates, by policy. */
  readonly gates: ReadonlyMap<number, number>
}

/** The locked log, the rows that were read under the lock, and the entries appended so far. */
export interface Batch {
  readonly org_id: string
  /** Size of the log before this batch. */
  readonly size: number
  /** The last published checkpoint. */
  readonly after: LogState['after']
  /** ms since 1970; one time for the whole batch, never earlier than the last time of the log. */
  readonly received_at: number
  /** By task. */
  readonly heads: Map<string, StoredHead>
  /** By `stepKey`. */
  readonly earlier: Map<string, EarlierStep[]>
  readonly agents: ReadonlyMap<string, AgentRules>
  /** The rules of tasks that keep earlier versions of manifests, by task. */
  readonly kept_rules: ReadonlyMap<string, AgentRules>
  /** The one active agent of a key, null when it has several or none. */
  readonly sole_agents: ReadonlyMap<string, string | null>
  /** Its tasks, each up to the head. */
  readonly tasks: Map<string, Task>
  readonly memories: MemoryOfBatch
  readonly origins: OriginsOfBatch
  readonly appended: AppendedEntry[]
}

/** The rules that apply to a task of an agent; undefined for an unknown agent. */
export function rulesOf({ agents, kept_rules }: Batch, agent_id: string, task_id: string): AgentRules | undefined {
  return kept_rules.get(task_id) ?? agents.get(agent_id)
}

/** The key of a step, by its task and the number that its sender gives it. */
export function stepKey(task_id: string, step: number): string {
  return `${step} ${task_id}`
}
