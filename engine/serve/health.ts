// The answer of /health (docs/design/engine.md §7).
import { type EngineHealth, isoTime } from '@svc/schemas'
import type { LoadedPolicies } from '../source/source.js'
import type { Sink } from '../trace/sinks/sink.js'

/** `now` is ms since 1970. */
export function healthOf(
  policies: LoadedPolicies,
  { memory, trace }: Pick<EngineHealth, 'memory' | 'trace'>,
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
    trace,
    instance_id,
    // Policies from files do not expire.
    ttl_remaining_seconds: expires_at === null ? 0 : Math.max(0, (expires_at - now) / 1000),
  }
}

/** The state of the delivery; all null but the location for a sink without a queue. */
export function traceHealth(location: string, sink: Sink): EngineHealth['trace'] {
  const status = sink.status?.()
  return {
    location,
    waiting_lines: status?.waiting_lines ?? null,
    waiting_bytes: status?.waiting_bytes ?? null,
    oldest_at: status?.oldest_at ?? null,
    dropped: status?.dropped ?? null,
    rejected: status?.rejected ?? null,
    sent: status?.sent ?? null,
    last_problem: status?.last_problem ?? null,
    last_sent_at: status?.last_sent_at ?? null,
  }
}
