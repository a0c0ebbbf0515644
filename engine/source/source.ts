// Where policies come from, and whether anything is governed (docs/design/engine.md §6).
import type { Agent, DroppedPolicy } from '@svc/schemas'
import type { ManifestWarning } from '../manifest/parse.js'
import type { PolicySet } from '../policy/compile.js'
import type { LoadState } from './state.js'

export interface ManifestInEffect {
  readonly manifest_id: string
  readonly name: string
  readonly path: string
  readonly sha: string
}

/** Policies in force, with everything /health says of them. */
export interface LoadedPolicies {
  readonly set: PolicySet
  readonly offered: number
  /** Exactly the offered policies that are not in effect. */
  readonly dropped: readonly DroppedPolicy[]
  /** Offered policies that were rejected while their last valid version is in effect. */
  readonly outdated: readonly DroppedPolicy[]
  /** Parts of policy files that are no policies and are not in effect, such as a wrong waiver. */
  readonly ignored: readonly DroppedPolicy[]
  /** What the files in force say that no step can have; it costs no policy. */
  readonly warnings: readonly ManifestWarning[]
  readonly load_state: LoadState
  readonly manifests: readonly ManifestInEffect[]
  /** Name of the source: `baseline`, `file` or `api`. */
  readonly source: string
  /** The agent as the platform knows it; null where nobody else does. */
  readonly agent: Agent | null
  /** True while a cache is in force past its time (docs/design/engine.md §6). */
  readonly stale: boolean
  /** When the policies in force were compiled, ms since 1970. */
  readonly loaded_at: number
  /** When the source was last asked, ms since 1970, and whether it answered. */
  readonly last_fetch_at: number | null
  readonly last_fetch_succeeded: boolean
  /** Why it gave no policies, and what to change; null when it answered. */
  readonly last_fetch_problem: string | null
  /** When the source is to be asked again, ms since 1970; null for files, which do not age. */
  readonly expires_at: number | null
}

/** A living source: what is in force may change between two steps, and the set that is in force is never changed. */
export interface PolicySource {
  readonly current: () => LoadedPolicies
  /** Asks again now; resolves with what is in force then. */
  readonly reload: () => Promise<LoadedPolicies>
  readonly close: () => Promise<void>
}
