// The time in which nothing was enforced on an agent, or in which that is unknown (docs/design/reports.md §2).

/** The known enforcement on an agent in a period, as of a cut-off. */
export interface Governance {
  /**
   * For how long policies were enforced, none were, it is unknown, and no engine ran; seconds. Time before the registration and time
   * in which the agent was deactivated count nowhere.
   */
  readonly governed_seconds: number
  readonly ungoverned_seconds: number
  readonly unknown_seconds: number
  readonly idle_seconds: number
  /**
   * Intervals of each engine and of the platform without enforcement, oldest first; they do not overlap within one engine. Of many,
   * the ungoverned ones are listed before the unknown ones, those before the idle ones, and long ones before short ones.
   */
  readonly intervals: readonly GovernanceInterval[]
  /** Intervals that are not listed. */
  readonly more: number
}

export interface GovernanceInterval {
  readonly from: string
  readonly to: string
  /** `idle`: no engine ran, and no step is known to have come without a decision. */
  readonly state: 'ungoverned' | 'unknown' | 'idle'
  /**
   * `no_policy`: the platform had no enforced policy for the agent; `none_configured`, `all_dropped`, `unavailable`: the engine's
   * own report; `silent`: the engine sent no heartbeat; `no_engine`: no engine had ever reported; `stopped`: every engine had
   * stopped in order; `undecided`: the same, and steps came that no engine had evaluated.
   */
  readonly reason:
    | 'no_policy'
    | 'none_configured'
    | 'all_dropped'
    | 'unavailable'
    | 'silent'
    | 'no_engine'
    | 'stopped'
    | 'undecided'
  /** The run of the engine; null for what the platform knows. */
  readonly instance_id: string | null
  /** Steps without a decision; only with the reason `undecided`. */
  readonly steps?: number
}

/** A period as of a place in the log. Times are RFC 3339. */
export interface GovernancePeriod {
  /** Inclusive. */
  readonly from: string
  /** Exclusive; what comes after the cut-off does not count. */
  readonly to: string
  /** A size of the log, and the time when it had that size. */
  readonly cut_off: { readonly size: number; readonly at: string }
}

/** The maximum difference between the clocks of engines and of the platform. */
export const maxClockSkewMs = 300_000

/** After this time without a heartbeat, the state of an engine is unknown since the last one. */
export const heartbeatTimeoutMs = 180_000

/** The same with at most `limit` intervals; `intervals` are in order of time. */
export function withFewer(governance: Governance, limit: number): Governance {
  const { intervals, more } = governance
  const kept = limitIntervals(intervals, limit, lengthOf)
  return { ...governance, intervals: kept, more: more + intervals.length - kept.length }
}

/** At most `limit` of these, in their order: those without governance before those that are unknown, long ones before short ones. */
export function limitIntervals<T extends Pick<GovernanceInterval, 'state'>>(
  intervals: readonly T[],
  limit: number,
  length: (interval: T) => number,
): readonly T[] {
  if (intervals.length <= limit) return intervals
  const ranked = intervals.map((interval, at) => ({ interval, at, rank: rankOf(interval), length: length(interval) }))
  ranked.sort((a, b) => a.rank - b.rank || b.length - a.length || a.at - b.at)
  const kept = ranked.slice(0, limit).sort((a, b) => a.at - b.at)
  return kept.map(({ interval }) => interval)
}

const ranks = { ungoverned: 0, unknown: 1, idle: 2 } as const satisfies Record<GovernanceInterval['state'], number>

function rankOf({ state }: Pick<GovernanceInterval, 'state'>): number {
  return ranks[state]
}

function lengthOf({ from, to }: GovernanceInterval): number {
  return Date.parse(to) - Date.parse(from)
}
