// Reports the load states of this engine to the platform, including those of an outage (docs/design/engine.md §6).

import { isoTime } from '@svc/schemas'
import { withinTime } from './answer.js'
import { endpointOf, type PlatformAddress } from './fetch.js'
import { type Interval, type IntervalSpool, maxIntervals } from './intervals.js'
import type { PolicySource } from './source.js'

export interface HeartbeatParts extends PlatformAddress {
  readonly source: PolicySource
  readonly spool: IntervalSpool
  readonly instance_id: string
  readonly version: string
  /** ms since 1970 */
  readonly clock: () => number
  /** ms on a clock that never jumps, for when the next one is due */
  readonly elapsed: () => number
  /** Receives each problem once. */
  readonly report: (line: string) => void
}

export interface Heartbeats {
  /** Reports the end of this run, and keeps what cannot be sent for the next start. */
  readonly close: () => Promise<void>
}

const checkIntervalMs = 1_000
/** The time between two heartbeats in the same state. */
const heartbeatIntervalMs = 60_000
/** The time until the next attempt after a heartbeat that failed. */
const retryIntervalMs = 5_000
const heartbeatTimeoutMs = 10_000
/** The longest delay of the end of the program by the last states. */
const stopTimeoutMs = 2_000

/** Sends each state of the engine, oldest first; unsent states are kept and sent later. */
export function startHeartbeats(parts: HeartbeatParts): Heartbeats {
  const { source, spool, instance_id, version, clock, elapsed, report } = parts
  const closing = new AbortController()
  let open = stateNow(source, instance_id, version, clock())
  let due = elapsed()
  let sending: Promise<void> | null = null
  let reported: string | null = null

  const notice = (now: number) => {
    const state = stateNow(source, instance_id, version, now)
    if (state.load_state === open.load_state && state.policy_count === open.policy_count) return
    spool.add({ ...open, until: isoTime(now) })
    open = state
    due = elapsed()
  }
  const check = () => {
    notice(clock())
    const now = elapsed()
    if (now < due || sending !== null) return
    due = now + heartbeatIntervalMs
    sending = send().finally(() => {
      sending = null
    })
  }
  const send = async () => {
    const problem = await sendAll()
    if (problem !== null && problem !== reported && !closing.signal.aborted) report(problem)
    reported = problem
    if (problem !== null) due = elapsed() + retryIntervalMs
  }
  const sendAll = async (): Promise<string | null> =>
    (await sendKept(closing.signal)) ?? post(parts, open, closing.signal)
  const sendKept = async (signal: AbortSignal): Promise<string | null> => {
    for (const interval of spool.all()) {
      const problem = await post(parts, interval, signal)
      if (problem !== null) return problem
      spool.remove(interval)
    }
    return null
  }

  check()
  const timer = setInterval(check, checkIntervalMs)
  timer.unref()
  return {
    close: async () => {
      clearInterval(timer)
      closing.abort()
      await sending
      const now = clock()
      notice(now)
      spool.add({ ...open, until: isoTime(now), ended: true })
      await sendKept(AbortSignal.timeout(stopTimeoutMs))
    },
  }
}

function stateNow(source: PolicySource, instance_id: string, version: string, now: number): Interval {
  const { load_state, set } = source.current()
  return { instance_id, version, load_state, policy_count: set.count, since: isoTime(now), until: null }
}

/** Null when the platform has stored the state, or rejects it for good (422); else the problem. */
async function post(address: PlatformAddress, interval: Interval, closing: AbortSignal): Promise<string | null> {
  const { origin } = endpointOf(address.url, path)
  try {
    const status = await statusOf(address, interval, closing)
    if (status < 300 || status === 422) return null
    return `${origin} rejects heartbeats (${status}); up to ${maxIntervals} states are kept and sent later`
  } catch {
    return `${origin} cannot be reached for heartbeats; up to ${maxIntervals} states are kept and sent later`
  }
}

const path = 'api/v1/engines/heartbeat'

async function statusOf({ url, api_key, agent_key }: PlatformAddress, interval: Interval, closing: AbortSignal) {
  const { until, ...others } = interval
  const body = JSON.stringify({ ...others, agent_key, ...(until !== null && { until }) })
  const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
  const { href } = endpointOf(url, path)
  return withinTime(heartbeatTimeoutMs, closing, async (signal) => {
    const answer = await fetch(href, { method: 'POST', headers, body, redirect: 'manual', signal })
    await answer.body?.cancel()
    return answer.status
  })
}
