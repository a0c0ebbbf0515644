// What an import is asked to do, and where its steps can go.

import type { ImportSettings } from '@svc/engine'
import type { Behavior } from '@svc/schemas'

export interface ImportOptions {
  readonly agentKey?: string
  readonly out?: string
  readonly to?: string
  readonly apiKey?: string
  readonly tools?: string
  readonly start: string
  readonly resume?: true
  readonly json?: true
}

/** Where steps go: a file and a platform are reported on alike. */
export interface ImportTarget {
  /** Called once, before any run. */
  readonly begin: (settings: ImportSettings) => Promise<void>
  /** True for a run that need not be sent again. */
  readonly has: (line: number) => boolean
  /** Takes a run's steps; rejects only when going on makes no sense. */
  readonly put: (line: number, steps: readonly Behavior[]) => Promise<void>
  readonly finish: () => Promise<ImportCounts>
}

export interface ImportCounts {
  /** Steps written or sent. */
  readonly steps: number
  readonly created: number
  /** Steps that were there already. */
  readonly replayed: number
  /** Runs with a step that was refused. */
  readonly failed_runs: number
  /** Why steps were refused, with line and step; the first thousand. */
  readonly failures: readonly string[]
  readonly violations: Readonly<Record<string, number>>
  readonly would_block: Readonly<Record<string, number>>
}
