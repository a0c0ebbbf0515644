// The governance of agents, with as many intervals of all agents together as a report lists.

import { maxIntervals } from '../content/bounds.js'
import { type Governance, withFewer } from '../governance/governance.js'

const unknown: Governance = {
  governed_seconds: 0,
  ungoverned_seconds: 0,
  unknown_seconds: 0,
  idle_seconds: 0,
  intervals: [],
  more: 0,
}

/** Intervals that the thread holds until it knows which ones are listed: some 25 MB. */
const maxHeld = 100_000

/** As much of the governance of one of this number of agents as the thread holds. */
export function heldGovernance(governance: Governance, agents: number): Governance {
  return withFewer(governance, Math.max(2, Math.floor(maxHeld / agents)))
}

/** The governance of each of these agents, in order. No agent loses intervals to one that lists more of them. */
export function listedGovernance(
  ids: readonly string[],
  all: ReadonlyMap<string, Governance>,
  limit = maxIntervals,
): readonly Governance[] {
  const own = ids.map((id) => all.get(id) ?? unknown)
  const share = shareOf(
    own.map(({ intervals }) => intervals.length),
    limit,
  )
  return own.map((governance) => withFewer(governance, share))
}

/** The highest number of intervals for each agent with which all of them are within the limit. */
function shareOf(lengths: readonly number[], limit: number): number {
  const ascending = lengths.toSorted((a, b) => a - b)
  let left = limit
  for (const [index, length] of ascending.entries()) {
    const share = Math.floor(left / (ascending.length - index))
    if (length > share) return share
    left -= length
  }
  return limit
}
