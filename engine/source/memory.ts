// What is known of a platform's policies, and what an answer or its absence makes of it (docs/design/engine.md §6).
import type { DroppedPolicy } from '@svc/schemas'
import { compile, type PolicySet } from '../policy/compile.js'
import type { PolicyCache } from './cache.js'
import { allOf } from './changes.js'
import type { FetchedPolicies, FetchResult } from './fetch.js'
import type { LoadedPolicies } from './source.js'
import { firstState, isGoverned, nextState } from './state.js'

export interface Memory {
  readonly current: LoadedPolicies
  /** False until the first answer or failure. */
  readonly started: boolean
  /** What the platform called the state in force. */
  readonly etag: string | null
  /** How long policies are good, ms. */
  readonly ttl: number
  /** Tries that failed since the last that did not. */
  readonly failures: number
  /** What the platform asked for at the last failure, ms. */
  readonly retry_after: number | null
}

export interface Learned {
  readonly next: Memory
  /** What somebody should know and mend. */
  readonly trouble: string | null
}

export interface Circumstances {
  readonly cache: PolicyCache
  /** How long policies are good, ms; null leaves it to the platform. */
  readonly ttl: number | null
  readonly clock: () => number
  readonly report: (line: string) => void
}

/** How long policies are good unless somebody says, ms (docs/design/engine.md §6), and what a platform may say. */
export const usualTtl = 300_000
const shortestTtl = 1_000
const longestTtl = 86_400_000

export function nothingYet(now: number, ttl: number | null): Memory {
  const current: LoadedPolicies = {
    ...{
      set: compile([]),
      offered: 0,
      dropped: [],
      outdated: [],
      ignored: [],
      warnings: [],
      manifests: [],
      source: 'api',
      agent: null,
    },
    ...{ load_state: 'unavailable', stale: false, loaded_at: now, last_fetch_at: null },
    ...{ last_fetch_succeeded: false, last_fetch_problem: null, expires_at: null },
  }
  return { current, started: false, etag: null, ttl: ttl ?? usualTtl, failures: 0, retry_after: null }
}

export function learn(memory: Memory, result: FetchResult, circumstances: Circumstances): Learned {
  if (result.kind === 'failed') return afterFailure(memory, result, circumstances)
  const known = { ...memory, started: true, failures: 0, retry_after: null }
  if (result.kind === 'unchanged') return afterConfirmation(known, circumstances)
  return afterAnswer(known, result.fetched, circumstances)
}

function afterFailure(
  memory: Memory,
  { trouble, retry_after }: FetchResult & { kind: 'failed' },
  { cache, clock, report }: Circumstances,
): Learned {
  const now = clock()
  const { current, started } = memory
  const cached = started ? null : usable(cache, now, report)
  const from = started ? current.load_state : 'start'
  const expired = current.expires_at === null || now >= current.expires_at
  const load_state = nextState(from, 'failed', { cached: cached !== null, expired })
  const next = {
    ...{ ...memory, started: true, etag: cached?.etag ?? memory.etag, failures: memory.failures + 1, retry_after },
    current: {
      ...(cached?.loaded ?? current),
      ...{ load_state, stale: load_state === 'stale_cache', last_fetch_at: now, last_fetch_succeeded: false },
      last_fetch_problem: trouble,
    },
  }
  return { next, trouble }
}

/** What is on disk, when this engine can enforce any of it. */
function usable(cache: PolicyCache, now: number, report: (line: string) => void) {
  const cached = cache.read()
  if (cached === null) return null
  const loaded = loadedFrom(cached, now, now)
  const fetched = `the policies fetched at ${new Date(cached.fetched_at).toISOString()}`
  report(loaded.set.count > 0 ? `${fetched} are in force, from the cache` : `none of ${fetched} can be enforced`)
  return loaded.set.count > 0 ? { loaded, etag: cached.etag } : null
}

/** What is in force is what the platform has: nothing else that it offered meanwhile counts any more. */
function afterConfirmation(memory: Memory, { clock }: Circumstances): Learned {
  const { current, ttl } = memory
  const load_state = isGoverned(current.load_state) ? 'enforcing' : current.load_state
  const confirmed = { ...current, ...freshAt(clock(), ttl), load_state, stale: false, ...rejectedIn(current.set) }
  return { next: { ...memory, current: confirmed }, trouble: null }
}

function afterAnswer(memory: Memory, fetched: FetchedPolicies, circumstances: Circumstances): Learned {
  const now = circumstances.clock()
  const said = Math.min(longestTtl, Math.max(shortestTtl, fetched.body.ttl_seconds * 1000))
  const ttl = circumstances.ttl ?? said
  const loaded = loadedFrom(fetched, now, now + ttl)
  if (loaded.load_state === 'all_dropped' && isGoverned(memory.current.load_state)) {
    const trouble = `${allOf(loaded.offered)} rejected, what was in effect stays so; see /health`
    const current = { ...memory.current, ...freshAt(now, ttl), ...rejectedBeside(memory.current.set, loaded.dropped) }
    return { next: { ...memory, current, ttl }, trouble }
  }
  if (loaded.load_state === 'enforcing') circumstances.cache.write(fetched)
  if (loaded.load_state === 'none_configured') circumstances.cache.remove()
  return { next: { ...memory, current: loaded, etag: fetched.etag, ttl }, trouble: null }
}

function freshAt(now: number, ttl: number) {
  return { last_fetch_at: now, last_fetch_succeeded: true, last_fetch_problem: null, expires_at: now + ttl }
}

function rejectedIn({ offered, dropped }: PolicySet) {
  return { offered, dropped, outdated: [] }
}

/** What was offered and rejected while `set` stays in effect: a policy of it is outdated, any other is dropped. */
function rejectedBeside({ policies, count }: PolicySet, rejected: readonly DroppedPolicy[]) {
  const in_effect = new Set<number | null>(policies.map(({ policy }) => policy.id))
  const dropped = rejected.filter(({ policy_id }) => !in_effect.has(policy_id))
  const outdated = rejected.filter(({ policy_id }) => in_effect.has(policy_id))
  return { offered: count + dropped.length, dropped, outdated }
}

/** Policies as fetched, compiled. */
function loadedFrom({ body }: FetchedPolicies, now: number, expires_at: number): LoadedPolicies {
  const set = compile(body.policies)
  return {
    ...{ set, ...rejectedIn(set), ignored: [], source: 'api', agent: body.agent },
    warnings: [],
    manifests: body.manifests.map(({ manifest_id, name, path, sha }) => ({ manifest_id, name, path, sha })),
    load_state: firstState(set.offered, set.count),
    ...{ stale: false, loaded_at: now, last_fetch_at: now, last_fetch_succeeded: true, expires_at },
    last_fetch_problem: null,
  }
}
