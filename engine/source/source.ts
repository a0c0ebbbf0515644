// Where policies come from, and whether anything is governed (engine.md §6).
import type { DroppedPolicy, EngineHealth } from '@svc/schemas'
import type { PolicyInput, PolicySet } from '../policy/compile.js'

export type LoadState = EngineHealth['load_state']

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
  /** Name of the source, such as `baseline` or `file`. */
  readonly source: string
  /** ms since 1970. */
  readonly loaded_at: number
}

/** The state a first load leads to. */
export function firstState(offered: number, in_effect: number): LoadState {
  if (offered === 0) return 'none_configured'
  return in_effect === 0 ? 'all_dropped' : 'enforcing'
}

/** One line for the error stream, because these states allow every step; null while something is enforced. */
export function ungovernedLine({ load_state, offered }: LoadedPolicies): string | null {
  if (load_state === 'none_configured') return 'svc: none_configured: the source has no policies, every step is allowed'
  if (load_state === 'all_dropped')
    return `svc: all_dropped: all ${offered} policies were refused, every step is allowed; see /health`
  return null
}
