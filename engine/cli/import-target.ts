// What an import is asked to do, and where its steps can go.
import type { Behavior } from '@svc/schemas'
import type { ImportSettings } from '../import/chat-completions.js'

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

/** Where steps go. */
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
  readonly steps: number
  readonly created: number
  readonly replayed: number
  readonly failures: readonly string[]
  readonly violations: Readonly<Record<string, number>>
  readonly would_block: Readonly<Record<string, number>>
}

/** An import onto a platform. */
export interface PlatformImport {
  readonly url: string
  readonly api_key: string
  readonly file: string
  readonly agent_key: string
  readonly start: number
  readonly resume: boolean
}
