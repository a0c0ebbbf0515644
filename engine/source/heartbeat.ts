// Telling the platform in which state this engine is, and was while nobody could be told (docs/design/engine.md §6).

import { endpointOf, type PlatformAddress } from './fetch.js'
import { type Interval, type IntervalSpool, mostIntervals } from './intervals.js'
import type { PolicySource } from './source.js'

export interface HeartbeatParts extends PlatformAddress {
  readonly source: PolicySource
  readonly spool: IntervalSpool
  readonly instance_id: string
  readonly version: string
  /** ms since 1970 */
  readonly clock: () => number
  /** Told once of what keeps the platform from being told. */
  readonly report: (line: string) => void
}

export interface Heartbeats {
  /** Keeps what has not been told for the next start. */
  readonly close: () => Promise<void>
}

/** Between two looks at the state, and between two heartbeats in the same state, ms. */
const lookEvery = 1_000
const beatEvery = 60_000
/** Until the next try after one that failed, ms. */
const retryEvery = 5_000
const patience = 10_000

/** Tells of each state the engine is in, oldest first; what cannot be told is kept, and told later. */
export function startHeartbeats(parts: HeartbeatParts): Heartbeats {
  const { source, spool, instance_id, version, clock, report } = parts
  const closing = new AbortController()
  let open = stateNow(source, instance_id, version, clock())
  let due = 0
  let telling: Promise<void> | null = null
  let told: string | null = null

  const notice = (now: number) => {
    const state = stateNow(source, instance_id, version, now)
    if (state.load_state === open.load_state && state.policy_count === open.policy_count) return
    spool.add({ ...open, until: timeOf(now) })
    open = state
    due = now
  }
  const look = () => {
    const now = clock()
    notice(now)
    if (now < due || telling !== null) return
    due = now + beatEvery
    telling = tell().finally(() => {
      telling = null
    })
  }
  const tell = async () => {
    const trouble = await tellAll()
    if (trouble !== null && trouble !== told && !closing.signal.aborted) report(trouble)
    told = trouble
    if (trouble !== null) due = clock() + retryEvery
  }
  const tellAll = async (): Promise<string | null> => {
    for (const interval of spool.all()) {
      const trouble = await post(parts, interval, closing.signal)
      if (trouble !== null) return trouble
      spool.remove(interval)
    }
    return post(parts, open, closing.signal)
  }

  look()
  const timer = setInterval(look, lookEvery)
  timer.unref()
  return {
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await telling
      const now = clock()
      notice(now)
      spool.add({ ...open, until: timeOf(now) })
    },
  }
}

function stateNow(source: PolicySource, instance_id: string, version: string, now: number): Interval {
  const { load_state, set } = source.current()
  return { instance_id, version, load_state, policy_count: set.count, since: timeOf(now), until: null }
}

/** Null once the platform knows, or has said that it will never take this. */
async function post({ url, api_key, agent_key }: PlatformAddress, interval: Interval, closing: AbortSignal) {
  const { href, origin } = endpointOf(url, 'api/v1/engines/heartbeat')
  const { until, ...others } = interval
  const body = JSON.stringify({ ...others, agent_key, ...(until !== null && { until }) })
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  try {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(patience)])
    const answer = await fetch(href, { method: 'POST', headers, body, redirect: 'manual', signal })
    await answer.body?.cancel()
    if (answer.status < 300 || answer.status === 422) return null
    return `${origin} takes no heartbeats (${answer.status}); up to ${mostIntervals} states are kept for it`
  } catch {
    return `${origin} cannot be told the state of this engine; up to ${mostIntervals} states are kept for it`
  }
}

function timeOf(now: number): string {
  return new Date(now).toISOString()
}
