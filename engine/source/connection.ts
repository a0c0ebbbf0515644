// Notes if the platform holds requests until the policies change, and chooses the next request (docs/design/engine.md §6).
import type { FetchResult } from './fetch.js'
import { defaultTtlMs, type Memory } from './memory.js'

export interface Connection {
  /** Null while it is unknown. */
  readonly holds: boolean | null
  /** Seconds; shorter once a connection was cut before the answer. */
  readonly max_wait: number
  /** A held request was cut: the next one asks for an answer at once, and tells whether the platform is available. */
  readonly is_cut: boolean
  /** A held request was answered early without a change, as a platform does that stops. */
  readonly is_hasty: boolean
}

/** A request that the platform could hold. */
export interface Held {
  /** Seconds; 0: answered at once. */
  readonly wait: number
  /** Its duration, ms. */
  readonly took: number
}

/** Many proxies close a connection that is idle for 30 or 60 seconds. */
const maxWait = 25
const minWait = 5
/** A request that was held for less says nothing about proxies. */
const minHeldMs = 1_000
/** The wait after the first failure; it doubles with each failure, up to the TTL. */
const firstRetryMs = 500
/** The minimum time between two requests. */
const minWaitMs = 50

export const notConnected: Connection = { holds: null, max_wait: maxWait, is_cut: false, is_hasty: false }

/** The longest time for which the platform may hold the next request, seconds; the TTL never ends in the meantime. */
export function waitOf({ max_wait, is_cut }: Connection, { failures, ttl }: Memory): number {
  return is_cut || failures > 0 ? 0 : Math.min(max_wait, Math.floor((ttl * 0.8) / 1000))
}

/** True if the failure of a request that was held says nothing about the platform. */
export function isCut(result: FetchResult, { wait, took }: Held): boolean {
  return result.kind === 'failed' && result.is_cut && wait > 0 && took >= minHeldMs
}

/** The connection after a request that was cut. */
export function afterCut(connection: Connection, { took }: Held): Connection {
  const max_wait = Math.max(minWait, Math.min(connection.max_wait, Math.floor((took * 0.8) / 1000)))
  return { ...connection, max_wait, is_cut: true }
}

/** The connection after an answer or a failure. `failures`: those before it. */
export function afterAnswer(
  connection: Connection,
  result: FetchResult,
  { wait, took }: Held,
  failures: number,
): Connection {
  if (result.kind === 'failed') return { ...connection, is_cut: false, is_hasty: false }
  const is_hasty = result.kind === 'unchanged' && wait > 0 && took < minHeldMs
  // A platform that is available again may be another version.
  const holds = wait > 0 ? result.holds : failures > 0 ? null : connection.holds
  return { ...connection, holds, is_cut: false, is_hasty }
}

/**
 * ms until the next request, with `random` from 0 to before 1: none while the platform holds requests, else shortly before the TTL
 * ends; after a failure sooner, with exponential back-off. The platform may ask for a longer wait, up to five minutes or the TTL.
 */
export function delayBefore(connection: Connection, memory: Memory, random: number): number {
  const { failures, ttl, retry_after } = memory
  const { holds, is_cut, is_hasty } = connection
  if (is_cut) return 0
  if (failures === 0 && holds !== false && waitOf(connection, memory) > 0)
    return is_hasty ? minHeldMs * (0.5 + 0.5 * random) : minWaitMs * (1 + random)
  const backoff = failures === 0 ? ttl * 0.9 : Math.min(ttl, firstRetryMs * 2 ** Math.min(failures - 1, 20))
  const least = Math.min(retry_after ?? 0, Math.max(ttl, defaultTtlMs))
  return Math.max(backoff * (0.8 + 0.2 * random), least * (1 + 0.1 * random), minWaitMs)
}
