// The load states and their transitions (docs/design/engine.md §6), as one function over the whole table.
import type { EngineHealth } from '@svc/schemas'

export type LoadState = EngineHealth['load_state']

/** The result of a fetch: policies of which some compiled, no policies, only rejected policies, or no answer. */
export type FetchEvent = 'compiled' | 'none_offered' | 'all_rejected' | 'failed'

export interface CacheState {
  /** Valid policies from an earlier run are on disk. */
  readonly cached: boolean
  /** The policies in effect have expired. */
  readonly expired: boolean
}

/** True if policies are in effect; the other states allow every step (docs/design/engine.md §6). */
export function isGoverned(load_state: LoadState): boolean {
  return load_state === 'enforcing' || load_state === 'stale_cache'
}

/** The state after an event. Neither a failure nor an entirely rejected set replaces policies in effect. */
export function nextState(from: LoadState | 'start', event: FetchEvent, { cached, expired }: CacheState): LoadState {
  if (event === 'compiled') return 'enforcing'
  if (event === 'none_offered') return 'none_configured'
  if (event === 'all_rejected') return from !== 'start' && isGoverned(from) ? from : 'all_dropped'
  if (from === 'start') return cached ? 'stale_cache' : 'unavailable'
  return from === 'enforcing' && expired ? 'stale_cache' : from
}

/** The state after the first answer. */
export function firstState(offered: number, in_effect: number): LoadState {
  const event = offered === 0 ? 'none_offered' : in_effect === 0 ? 'all_rejected' : 'compiled'
  return nextState('start', event, { cached: false, expired: false })
}
