// Policies from a platform: fetched, kept on disk, and asked for again in the background (docs/design/engine.md §6).
import type { PolicyCache } from './cache.js'
import { changeLines } from './changes.js'
import { fetchPolicies, type PlatformAddress } from './fetch.js'
import { type Learned, learn, type Memory, nothingYet, usualTtl } from './memory.js'
import type { LoadedPolicies, PolicySource } from './source.js'

export interface ApiSourceParts extends PlatformAddress {
  readonly cache: PolicyCache
  /** How long policies are good, ms; null leaves it to the platform. */
  readonly ttl: number | null
  readonly clock: () => number
  /** From 0 to before 1, so that many engines do not ask at once. */
  readonly random: () => number
  readonly report: (line: string) => void
}

/** Asks once before it resolves, whatever comes of it. */
export async function apiSource(parts: ApiSourceParts): Promise<PolicySource> {
  const { clock, random, report } = parts
  const closing = new AbortController()
  let memory = nothingYet(clock(), parts.ttl)
  let asking: Promise<LoadedPolicies> | null = null
  let timer: NodeJS.Timeout | null = null
  let told: ReadonlySet<string> = new Set()

  const refresh = async () => {
    const { signal } = closing
    const result = await fetchPolicies(parts, { etag: memory.etag, now: clock(), signal })
    if (signal.aborted) return memory.current
    const before = memory
    const learned = learn(before, result, parts)
    memory = learned.next
    tell(before, learned)
    return memory.current
  }
  /** The same trouble is told once until it is over; what a start led to is told by whoever started. */
  const tell = (before: Memory, { next, trouble }: Learned) => {
    if (trouble !== null && !told.has(trouble)) report(trouble)
    told = trouble === null ? new Set() : new Set([...told, trouble])
    if (before.started) for (const line of changeLines(before.current, next.current)) report(line)
  }
  const plan = () => {
    if (closing.signal.aborted) return
    timer = setTimeout(ask, waitBefore(memory, random()))
    timer.unref()
  }
  const ask = () => {
    if (timer !== null) clearTimeout(timer)
    asking ??= refresh().finally(() => {
      asking = null
      plan()
    })
    return asking
  }

  await ask()
  return {
    current: () => memory.current,
    reload: ask,
    close: async () => {
      closing.abort()
      if (timer !== null) clearTimeout(timer)
      await asking
    },
  }
}

/** The first wait after a failure, ms; it doubles up to the time policies are good. */
const firstWait = 500
/** Nobody is asked more often, ms. */
const shortestWait = 50

/**
 * ms until the next try, with `random` from 0 to before 1: a little before the time is over; after a failure sooner, and
 * later each time. A platform may ask for more patience, up to five minutes or the time policies are good.
 */
function waitBefore({ failures, ttl, retry_after }: Memory, random: number): number {
  const usual = failures === 0 ? ttl * 0.9 : Math.min(ttl, firstWait * 2 ** Math.min(failures - 1, 20))
  const least = Math.min(retry_after ?? 0, Math.max(ttl, usualTtl))
  return Math.max(usual * (0.8 + 0.2 * random), least * (1 + 0.1 * random), shortestWait)
}
