// Where policies come from, and whether anything is governed (engine.md §6).
import type { Agent, DroppedPolicy } from '@svc/schemas'
import type { PolicyInput, PolicySet } from '../policy/compile.js'
import type { LoadState } from './state.js'

/** Policies as a source offered them. */
export interface Offer {
  readonly policies: readonly PolicyInput[]
  /** Policies that could not even be read. */
  readonly unreadable: readonly DroppedPolicy[]
  /** What else is wrong and costs no policy, such as a bad waiver. */
  readonly remarks: readonly DroppedPolicy[]
  readonly manifests: readonly ManifestInEffect[]
}

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
  readonly dropped: readonly DroppedPolicy[]
  readonly load_state: LoadState
  readonly manifests: readonly ManifestInEffect[]
  /** Name of the source: `baseline`, `file` or `api`. */
  readonly source: string
  /** The agent as the platform knows it; null where nobody else does. */
  readonly agent: Agent | null
  /** True while a cache is in force past its time (engine.md §6). */
  readonly stale: boolean
  /** When the policies in force were compiled, ms since 1970. */
  readonly loaded_at: number
  /** When the source was last asked, ms since 1970, and whether it answered. */
  readonly last_fetch_at: number | null
  readonly last_fetch_succeeded: boolean
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

/** One line for the error stream, because these states allow every step; null while something is enforced. */
export function ungovernedLine({ load_state, offered }: LoadedPolicies): string | null {
  if (load_state === 'none_configured') return 'svc: none_configured: the source has no policies, every step is allowed'
  if (load_state === 'all_dropped')
    return `svc: all_dropped: all ${offered} policies were refused, every step is allowed; see /health`
  if (load_state === 'unavailable') return 'svc: unavailable: the source cannot be reached, every step is allowed'
  return null
}
