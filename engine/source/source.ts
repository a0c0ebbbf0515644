// Where policies come from, and whether anything is governed (engine.md §6).
import type { Agent, DroppedPolicy, EngineHealth } from '@svc/schemas'
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

/** Whether policies are in force; the other states allow every step (seed §3). */
export function isGoverned(load_state: LoadState): boolean {
  return load_state === 'enforcing' || load_state === 'stale_cache'
}

/** The state a first load leads to. */
export function firstState(offered: number, in_effect: number): LoadState {
  if (offered === 0) return 'none_configured'
  return in_effect === 0 ? 'all_dropped' : 'enforcing'
}

/**
 * What is in force after the source was asked again. A set that governs is not given up for one of which nothing can be
 * used, nor for a source that cannot be read: it stays, the refused policies are named, and `report` says so.
 */
export function afterReload(
  before: LoadedPolicies,
  read: LoadedPolicies | Error,
  now: number,
  report: (line: string) => void,
): LoadedPolicies {
  if (read instanceof Error) {
    report(`the policies cannot be read, what was in force stays so: ${read.message}`)
    return { ...before, last_fetch_at: now, last_fetch_succeeded: false }
  }
  if (read.load_state === 'all_dropped' && isGoverned(before.load_state)) {
    report(`all ${read.offered} policies were refused, what was in force stays so; see /health`)
    return { ...before, dropped: read.dropped, last_fetch_at: now }
  }
  const line = ungovernedLine(read)
  if (line !== null && read.load_state !== before.load_state) report(line.replace(/^svc: /, ''))
  return read
}

/** One line for the error stream, because these states allow every step; null while something is enforced. */
export function ungovernedLine({ load_state, offered }: LoadedPolicies): string | null {
  if (load_state === 'none_configured') return 'svc: none_configured: the source has no policies, every step is allowed'
  if (load_state === 'all_dropped')
    return `svc: all_dropped: all ${offered} policies were refused, every step is allowed; see /health`
  return null
}
