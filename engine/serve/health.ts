// The answer of /health (docs/design/engine.md §7).
import { type EngineHealth, isoTime } from '@svc/schemas'
import type { LoadedPolicies } from '../source/source.js'

/** `now` is ms since 1970. */
export function healthOf(
  policies: LoadedPolicies,
  memory: EngineHealth['memory'],
  instance_id: string,
  now: number,
): EngineHealth {
  const { set, last_fetch_at, expires_at } = policies
  return {
    loaded: set.count > 0,
    policy_count: set.count,
    policies_offered: policies.offered,
    load_state: policies.load_state,
    dropped: [...policies.dropped],
    outdated: [...policies.outdated],
    ignored: [...policies.ignored],
    stale: policies.stale,
    source: policies.source,
    last_fetch_at: last_fetch_at === null ? null : isoTime(last_fetch_at),
    last_fetch_succeeded: policies.last_fetch_succeeded,
    last_fetch_problem: policies.last_fetch_problem,
    memory,
    instance_id,
    // Policies from files do not expire.
    ttl_remaining_seconds: expires_at === null ? 0 : Math.max(0, (expires_at - now) / 1000),
  }
}
