// The destination of an import, and its counts.
import type { Behavior } from '@svc/schemas'

/** An agent of the runs, as a platform registers it. */
export interface ImportedAgent {
  readonly agent_key: string
  readonly name: string
  /** Sorted; absent when nothing states which tools the agent may use. */
  readonly declared_tools?: readonly string[]
  /** True for an agent that stays as it is when the platform knows it. */
  readonly keeps_registration: boolean
}

/** A file or a platform. */
export interface ImportTarget {
  /** Called once, before any run. */
  readonly begin: (agents: readonly ImportedAgent[]) => Promise<void>
  /** Takes the steps of a run, or the next of them; `place` names the run in messages. Rejects when the import cannot continue. */
  readonly put: (place: string, steps: readonly Behavior[]) => Promise<void>
  readonly finish: () => Promise<ImportCounts>
}

export interface ImportCounts {
  /** Steps written or sent. */
  readonly steps: number
  readonly created: number
  /** Steps that the platform had already. */
  readonly replayed: number
  /** Runs with a rejected step. */
  readonly failed_runs: number
  /** Reasons of rejected steps, with run and step; the first thousand. */
  readonly failures: readonly string[]
  readonly violations: Readonly<Record<string, number>>
  readonly would_block: Readonly<Record<string, number>>
  /** Steps that would have been allowed with an approval. */
  readonly would_ask: Readonly<Record<string, number>>
}
