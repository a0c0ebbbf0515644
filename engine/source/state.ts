// The load states and what leads from one to another (docs/design/engine.md §6), as one function over the whole table.
import type { EngineHealth } from '@svc/schemas'

export type LoadState = EngineHealth['load_state']

/** What asking the source led to: policies of which some compiled, none at all, all refused, or no answer. */
export type FetchEvent = 'compiled' | 'none_offered' | 'all_rejected' | 'failed'

export interface Circumstances {
  /** A good set is on disk from an earlier run. */
  readonly cached: boolean
  /** The time for which the set in force was good has passed. */
  readonly expired: boolean
}

/** Whether policies are in force; the other states allow every step (docs/design/engine.md §6). */
export function isGoverned(load_state: LoadState): boolean {
  return load_state === 'enforcing' || load_state === 'stale_cache'
}

/** The state after an event. A set that governs is never given up for a failure or for one that is refused whole. */
export function nextState(from: LoadState | 'start', event: FetchEvent, { cached, expired }: Circumstances): LoadState {
  if (event === 'compiled') return 'enforcing'
  if (event === 'none_offered') return 'none_configured'
  if (event === 'all_rejected') return from !== 'start' && isGoverned(from) ? from : 'all_dropped'
  if (from === 'start') return cached ? 'stale_cache' : 'unavailable'
  return from === 'enforcing' && expired ? 'stale_cache' : from
}

/** The state a first answer leads to. */
export function firstState(offered: number, in_effect: number): LoadState {
  const event = offered === 0 ? 'none_offered' : in_effect === 0 ? 'all_rejected' : 'compiled'
  return nextState('start', event, { cached: false, expired: false })
}
