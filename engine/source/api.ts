// Policies from a platform: fetched, cached on disk, and fetched again in the background (docs/design/engine.md §6).
import type { PolicyCache } from './cache.js'
import { changeLines } from './changes.js'
import { fetchPolicies, type PlatformAddress } from './fetch.js'
import { defaultTtlMs, emptyMemory, type Learned, learn, type Memory } from './memory.js'
import type { LoadedPolicies, PolicySource } from './source.js'

export interface ApiSourceParts extends PlatformAddress {
  readonly cache: PolicyCache
  /** How long fetched policies are valid, ms; null for the platform's value. */
  readonly ttl: number | null
  readonly clock: () => number
  /** From 0 to before 1; spreads the requests of many engines. */
  readonly random: () => number
  readonly report: (line: string) => void
}

/** Resolves after the first fetch, also when that failed. */
export async function apiSource(parts: ApiSourceParts): Promise<PolicySource> {
  const { clock, random, report } = parts
  const closing = new AbortController()
  let memory = emptyMemory(clock(), parts.ttl)
  let fetching: Promise<LoadedPolicies> | null = null
  let timer: NodeJS.Timeout | null = null
  let reported: ReadonlySet<string> = new Set()

  const refresh = async () => {
    const { signal } = closing
    const result = await fetchPolicies(parts, { etag: memory.etag, now: clock(), signal })
    if (signal.aborted) return memory.current
    const before = memory
    const learned = learn(before, result, parts)
    memory = learned.next
    reportChanges(before, learned)
    return memory.current
  }
  /** Reports each problem once until a fetch succeeds; `svc serve` reports the result of the start. */
  const reportChanges = (before: Memory, { next, problem }: Learned) => {
    if (problem !== null && !reported.has(problem)) report(problem)
    reported = problem === null ? new Set() : new Set([...reported, problem])
    if (before.started) for (const line of changeLines(before.current, next.current)) report(line)
  }
  const schedule = () => {
    if (closing.signal.aborted) return
    timer = setTimeout(fetchNow, waitBefore(memory, random()))
    timer.unref()
  }
  const fetchNow = () => {
    if (timer !== null) clearTimeout(timer)
    fetching ??= refresh().finally(() => {
      fetching = null
      schedule()
    })
    return fetching
  }

  await fetchNow()
  return {
    current: () => memory.current,
    reload: fetchNow,
    close: async () => {
      closing.abort()
      if (timer !== null) clearTimeout(timer)
      await fetching
    },
  }
}

/** The wait after the first failure; it doubles with each failure, up to the TTL. */
const firstRetryMs = 500
/** The minimum time between two requests. */
const minWaitMs = 50

/**
 * ms until the next request, with `random` from 0 to before 1: shortly before the TTL ends; after a failure sooner, with
 * exponential backoff. The platform may ask for a longer wait, up to five minutes or the TTL.
 */
function waitBefore({ failures, ttl, retry_after }: Memory, random: number): number {
  const backoff = failures === 0 ? ttl * 0.9 : Math.min(ttl, firstRetryMs * 2 ** Math.min(failures - 1, 20))
  const least = Math.min(retry_after ?? 0, Math.max(ttl, defaultTtlMs))
  return Math.max(backoff * (0.8 + 0.2 * random), least * (1 + 0.1 * random), minWaitMs)
}
