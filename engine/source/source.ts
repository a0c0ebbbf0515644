// Policy sources and the policies that they have in effect (docs/design/engine.md §6).
import type { Agent, DroppedPolicy } from '@svc/schemas'
import type { Finding } from '../findings/finding.js'
import type { PolicySet } from '../policy/compile.js'
import type { PolicyInput } from '../policy/policy-input.js'
import type { LoadState } from './state.js'

export interface ManifestInEffect {
  readonly manifest_id: string
  readonly name: string
  readonly path: string
  readonly sha: string
  /** `task`: a running task keeps the version that it began with. */
  readonly pin: 'task' | null
}

/** A replaced version of a manifest. */
export interface EarlierVersion {
  readonly manifest_id: string
  readonly sha: string
  /** The time when it was replaced, ms since 1970. */
  readonly until: number
  readonly policies: readonly PolicyInput[]
}

/** Policies in effect, with all that /health reports of them. */
export interface LoadedPolicies {
  readonly set: PolicySet
  readonly offered: number
  /** Exactly the offered policies that are not in effect. */
  readonly dropped: readonly DroppedPolicy[]
  /** Offered policies that were rejected while their last valid version is in effect. */
  readonly outdated: readonly DroppedPolicy[]
  /** Invalid parts of policy files other than policies, such as a waiver. */
  readonly ignored: readonly DroppedPolicy[]
  /** Warnings of the files in effect; they reject no policy. */
  readonly warnings: readonly Finding[]
  readonly load_state: LoadState
  readonly manifests: readonly ManifestInEffect[]
  /** Replaced versions of manifests with a pin, which running tasks may keep. */
  readonly earlier: readonly EarlierVersion[]
  /** Name of the source: `baseline`, `file` or `api`. */
  readonly source: string
  /** The agent as the platform knows it; null for the other sources. */
  readonly agent: Agent | null
  /** True while an expired cache is in effect (docs/design/engine.md §6). */
  readonly stale: boolean
  /** The time when the policies in effect were compiled, ms since 1970. */
  readonly loaded_at: number
  /** The time of the last reading of the source, ms since 1970, and its success. */
  readonly last_fetch_at: number | null
  readonly last_fetch_succeeded: boolean
  /** The reason why it gave no policies, and the remedy; null after a success. */
  readonly last_fetch_problem: string | null
  /** The time when the source is read again, ms since 1970; null for files, which do not expire. */
  readonly expires_at: number | null
}

/** A source may replace its policies between two steps; a set in effect is never modified. */
export interface PolicySource {
  readonly current: () => LoadedPolicies
  /** Reads the source again; resolves with the policies then in effect. */
  readonly reload: () => Promise<LoadedPolicies>
  readonly close: () => Promise<void>
}
