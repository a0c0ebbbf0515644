// Policies from a platform: fetched, kept on disk, and asked for again in the background (engine.md §6).
import { compile } from '../policy/compile.js'
import type { PolicyCache } from './cache.js'
import { type FetchedPolicies, fetchPolicies, type PlatformAddress } from './fetch.js'
import { type LoadedPolicies, type PolicySource, ungovernedLine } from './source.js'
import { firstState, isGoverned, nextState } from './state.js'

export interface ApiSourceParts extends PlatformAddress {
  readonly cache: PolicyCache
  /** How long policies are good, ms; null leaves it to the platform. */
  readonly ttl: number | null
  readonly clock: () => number
  /** From 0 to before 1, so that many engines do not ask at once. */
  readonly random: () => number
  readonly report: (line: string) => void
}

/** The first wait after a failure, ms; it doubles up to the time policies are good. */
const firstWait = 500
/** How long policies are good unless somebody says, ms (engine.md §6). */
const usualTtl = 300_000

/** Asks once before it resolves, whatever comes of it. */
export async function apiSource(parts: ApiSourceParts): Promise<PolicySource> {
  const { clock, random, report } = parts
  let memory: Memory = { current: beforeFirst(clock()), started: false, etag: null, ttl: parts.ttl ?? usualTtl }
  let failures = 0
  let told: string | null = null
  let timer: NodeJS.Timeout | null = null
  let asking: Promise<LoadedPolicies> | null = null
  let closed = false

  const learn = async () => {
    try {
      const fetched = await fetchPolicies(parts, memory.etag)
      failures = 0
      return afterAnswer(memory, fetched, parts)
    } catch (error) {
      failures += 1
      return afterFailure(memory, error, parts)
    }
  }
  const refresh = async () => {
    const before = memory
    const { next, trouble } = await learn()
    memory = next
    // The same trouble is told once, and an ungoverned state when it is entered.
    if (trouble !== null && trouble !== told) report(trouble)
    told = trouble
    const ungoverned = ungovernedLine(next.current)
    if (ungoverned !== null && before.started && next.current.load_state !== before.current.load_state)
      report(ungoverned.replace(/^svc: /, ''))
    return memory.current
  }
  /** A little before the time is over; after a failure sooner, and later each time. */
  const plan = () => {
    if (closed) return
    const wait = failures === 0 ? memory.ttl * 0.9 : Math.min(memory.ttl, firstWait * 2 ** Math.min(failures - 1, 20))
    timer = setTimeout(ask, wait * (0.8 + 0.2 * random()))
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
      closed = true
      if (timer !== null) clearTimeout(timer)
      await asking
    },
  }
}

/** What is known of the platform's policies so far. */
interface Memory {
  readonly current: LoadedPolicies
  /** False until the first answer or failure. */
  readonly started: boolean
  readonly etag: string | null
  /** How long policies are good, ms. */
  readonly ttl: number
}

interface Learned {
  readonly next: Memory
  /** What somebody should know and mend. */
  readonly trouble: string | null
}

function afterFailure(memory: Memory, error: unknown, { cache, clock }: ApiSourceParts): Learned {
  const now = clock()
  const trouble = error instanceof Error ? error.message : String(error)
  const cached = memory.started ? null : cache.read()
  const { expires_at } = memory.current
  const circumstances = { cached: cached !== null, expired: expires_at === null || now >= expires_at }
  const from = memory.started ? memory.current.load_state : 'start'
  const load_state = nextState(from, 'failed', circumstances)
  const stale = load_state === 'stale_cache'
  const known = cached === null ? memory.current : loadedFrom(cached, now, now)
  const current = { ...known, load_state, stale, last_fetch_at: now, last_fetch_succeeded: false }
  return { next: { ...memory, current, started: true, etag: cached?.etag ?? memory.etag }, trouble }
}

function afterAnswer(memory: Memory, fetched: FetchedPolicies | null, parts: ApiSourceParts): Learned {
  const now = parts.clock()
  const ttl = parts.ttl ?? (fetched === null ? memory.ttl : fetched.body.ttl_seconds * 1000)
  const fresh = { last_fetch_at: now, last_fetch_succeeded: true, expires_at: now + ttl }
  if (fetched === null) {
    const load_state = isGoverned(memory.current.load_state) ? ('enforcing' as const) : memory.current.load_state
    const current = { ...memory.current, ...fresh, load_state, stale: false }
    return { next: { ...memory, current, ttl }, trouble: null }
  }
  const loaded = loadedFrom(fetched, now, now + ttl)
  if (loaded.load_state === 'all_dropped' && isGoverned(memory.current.load_state)) {
    const trouble = `all ${loaded.offered} policies were refused, what was in force stays so; see /health`
    return { next: { ...memory, current: { ...memory.current, ...fresh, dropped: loaded.dropped }, ttl }, trouble }
  }
  if (loaded.load_state === 'enforcing') parts.cache.write(fetched)
  if (loaded.load_state === 'none_configured') parts.cache.remove()
  return { next: { current: loaded, started: true, etag: fetched.etag, ttl }, trouble: null }
}

function beforeFirst(now: number): LoadedPolicies {
  return {
    ...{ set: compile([]), offered: 0, dropped: [], manifests: [], source: 'api', agent: null },
    ...{ load_state: 'unavailable', stale: false, loaded_at: now, last_fetch_at: null },
    ...{ last_fetch_succeeded: false, expires_at: null },
  }
}

/** Policies as fetched, compiled. */
function loadedFrom({ body }: FetchedPolicies, now: number, expires_at: number): LoadedPolicies {
  const set = compile(body.policies)
  return {
    ...{ set, offered: set.offered, dropped: set.dropped, source: 'api', agent: body.agent },
    manifests: body.manifests.map(({ manifest_id, name, path, sha }) => ({ manifest_id, name, path, sha })),
    load_state: firstState(set.offered, set.count),
    ...{ stale: false, loaded_at: now, last_fetch_at: now, last_fetch_succeeded: true, expires_at },
  }
}
