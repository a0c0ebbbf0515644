// What a group commit works on, and the words its parts share.
import type { StoredHead } from '@svc/proof'
import type { LoggedStep, LogRequest } from '@svc/schemas'
import type { AgentRules } from '../agents/rulebook.js'
import type { PlatformError } from '../errors.js'
import type { KeyIdentity } from '../http/principal.js'
import type { CommittedPayload } from '../ledger/commitments.js'
import type { EarlierStep, LogState } from '../ledger/log.js'
import { type NewEntry, sealPayload } from './entry.js'
import type { Histories } from './histories.js'

export interface Item {
  readonly key: KeyIdentity
  readonly request: LogRequest
  /** Sealed at its first use, or ahead of it while the database is busy. */
  readonly payload: () => CommittedPayload
}

/** A step waiting to be placed. */
export function itemOf(key: KeyIdentity, request: LogRequest): Item {
  let sealed: CommittedPayload | undefined
  const payload = () => {
    sealed ??= sealPayload(request)
    return sealed
  }
  return { key, request, payload }
}

export type Outcome =
  | { readonly status: 200 | 201; readonly replayed: boolean; readonly entry: LoggedStep }
  | { readonly error: PlatformError }

/** An entry placed by this batch, with what its violations make of it. */
export interface PlacedEntry extends NewEntry {
  /** Whose data it carries, as its sender says. */
  readonly subjects: readonly string[]
  readonly rules: AgentRules
  readonly violations: LoggedStep['violations']
  readonly risk_score: number
}

/** The log as locked, what was read under the lock, and everything placed so far. */
export interface Batch {
  readonly org_id: string
  /** Size of the log before this batch. */
  readonly size: number
  /** The last published checkpoint. */
  readonly after: LogState['after']
  /** ms since 1970; one time for the whole batch, never below the log's last. */
  readonly received_at: number
  readonly heads: Map<string, StoredHead>
  readonly earlier: Map<string, EarlierStep[]>
  readonly agents: ReadonlyMap<string, AgentRules>
  /** The one active agent of a key, null when it has several or none. */
  readonly sole_agents: ReadonlyMap<string, string | null>
  readonly histories: Histories
  readonly placed: PlacedEntry[]
}

/** Names a step of a task as its sender does. */
export function stepKey(task_id: string, step: number): string {
  return `${step} ${task_id}`
}
