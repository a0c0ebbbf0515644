// The policies of a platform in memory, and the next state after an answer or a failure (docs/design/engine.md §6).
import { type DroppedPolicy, isoTime } from '@svc/schemas'
import { compile, type PolicySet } from '../policy/compile.js'
import { readPolicy } from '../policy/policy-input.js'
import type { PolicyCache } from './cache.js'
import { allOf } from './changes.js'
import { earlierVersions } from './earlier.js'
import type { FetchedPolicies, FetchResult } from './fetch.js'
import type { LoadedPolicies } from './source.js'
import { firstState, isGoverned, nextState } from './state.js'

export interface Memory {
  readonly current: LoadedPolicies
  /** False until the first answer or failure. */
  readonly started: boolean
  /** The entity tag of the policies in effect. */
  readonly etag: string | null
  /** The time for which fetched policies are valid, ms. */
  readonly ttl: number
  /** Failures since the last success. */
  readonly failures: number
  /** The wait that the platform asked for at the last failure, ms. */
  readonly retry_after: number | null
}

export interface Learned {
  readonly next: Memory
  /** A problem for the operator. */
  readonly problem: string | null
  /** The platform rejects the key, the agent or the path. */
  readonly is_rejected: boolean
}

export interface LearnParts {
  readonly cache: PolicyCache
  /** The time for which fetched policies are valid, ms; null for the platform's value. */
  readonly ttl: number | null
  readonly clock: () => number
  readonly report: (line: string) => void
}

/** docs/design/engine.md §6. */
export const defaultTtlMs = 300_000
/** The range for a platform's value. */
const minTtlMs = 1_000
const maxTtlMs = 86_400_000

export function emptyMemory(now: number, ttl: number | null): Memory {
  const current: LoadedPolicies = {
    set: compile([]),
    offered: 0,
    dropped: [],
    outdated: [],
    ignored: [],
    warnings: [],
    manifests: [],
    earlier: [],
    source: 'api',
    agent: null,
    load_state: 'unavailable',
    stale: false,
    loaded_at: now,
    last_fetch_at: null,
    last_fetch_succeeded: false,
    last_fetch_problem: null,
    expires_at: null,
  }
  return { current, started: false, etag: null, ttl: ttl ?? defaultTtlMs, failures: 0, retry_after: null }
}

export function learn(memory: Memory, result: FetchResult, parts: LearnParts): Learned {
  if (result.kind === 'failed') return afterFailure(memory, result, parts)
  const known = { ...memory, started: true, failures: 0, retry_after: null }
  if (result.kind === 'unchanged') return afterConfirmation(known, parts)
  return afterAnswer(known, result.fetched, parts)
}

function afterFailure(
  memory: Memory,
  { problem, retry_after, is_rejected }: FetchResult & { kind: 'failed' },
  { cache, clock, report }: LearnParts,
): Learned {
  const now = clock()
  const { current, started } = memory
  const cached = started ? null : usable(memory, cache, now, report)
  const from = started ? current.load_state : 'start'
  const { expires_at } = current
  // A time before the last success: the clock was set back, so the time since then is unknown.
  const expired = expires_at === null || now >= expires_at || now < expires_at - memory.ttl
  const load_state = nextState(from, 'failed', { cached: cached !== null, expired })
  const next = {
    ...memory,
    started: true,
    etag: cached?.etag ?? memory.etag,
    failures: memory.failures + 1,
    retry_after,
    current: {
      ...(cached?.loaded ?? current),
      load_state,
      stale: load_state === 'stale_cache',
      last_fetch_at: now,
      last_fetch_succeeded: false,
      last_fetch_problem: problem,
    },
  }
  return { next, problem, is_rejected }
}

/** The cached policies, when this engine can enforce at least one. */
function usable({ current }: Memory, cache: PolicyCache, now: number, report: (line: string) => void) {
  const cached = cache.read()
  if (cached === null) return null
  const loaded = loadedFrom(cached, now, now, current)
  const fetched = `the policies fetched at ${isoTime(cached.fetched_at)}`
  report(loaded.set.count > 0 ? `${fetched} are in effect, from the cache` : `none of ${fetched} can be enforced`)
  return loaded.set.count > 0 ? { loaded, etag: cached.etag } : null
}

/** The platform confirms the policies in effect: rejected policies that it offered in the meantime no longer count. */
function afterConfirmation(memory: Memory, { clock }: LearnParts): Learned {
  const { current, ttl } = memory
  const load_state = isGoverned(current.load_state) ? 'enforcing' : current.load_state
  const confirmed = { ...current, ...freshAt(clock(), ttl), load_state, stale: false, ...rejectedIn(current.set) }
  return { next: { ...memory, current: confirmed }, problem: null, is_rejected: false }
}

function afterAnswer(memory: Memory, fetched: FetchedPolicies, parts: LearnParts): Learned {
  const now = parts.clock()
  const offered = Math.min(maxTtlMs, Math.max(minTtlMs, fetched.body.ttl_seconds * 1000))
  const ttl = parts.ttl ?? offered
  const loaded = loadedFrom(fetched, now, now + ttl, memory.current)
  if (loaded.load_state === 'all_dropped' && isGoverned(memory.current.load_state)) {
    const problem = `${allOf(loaded.offered)} rejected, the previous policies stay in effect; see /health`
    const current = { ...memory.current, ...freshAt(now, ttl), ...rejectedBeside(memory.current.set, loaded.dropped) }
    return { next: { ...memory, current, ttl }, problem, is_rejected: false }
  }
  if (loaded.load_state === 'enforcing') parts.cache.write(fetched)
  if (loaded.load_state === 'none_configured') parts.cache.remove()
  return { next: { ...memory, current: loaded, etag: fetched.etag, ttl }, problem: null, is_rejected: false }
}

function freshAt(now: number, ttl: number) {
  return { last_fetch_at: now, last_fetch_succeeded: true, last_fetch_problem: null, expires_at: now + ttl }
}

function rejectedIn({ offered, dropped }: PolicySet) {
  return { offered, dropped, outdated: [] }
}

/** Rejected policies while `set` stays in effect: a policy of the set is outdated, any other is dropped. */
function rejectedBeside({ policies, count }: PolicySet, rejected: readonly DroppedPolicy[]) {
  const in_effect = new Set<number | null>(policies.map(({ policy }) => policy.id))
  const dropped = rejected.filter(({ policy_id }) => !in_effect.has(policy_id))
  const outdated = rejected.filter(({ policy_id }) => in_effect.has(policy_id))
  return { offered: count + dropped.length, dropped, outdated }
}

/** Policies as fetched, compiled; versions in effect `before` stay known to running tasks. */
function loadedFrom(
  { body }: FetchedPolicies,
  now: number,
  expires_at: number,
  before: LoadedPolicies,
): LoadedPolicies {
  const set = compile(body.policies.map(readPolicy))
  return {
    set,
    ...rejectedIn(set),
    ignored: [],
    warnings: [],
    source: 'api',
    agent: body.agent,
    manifests: body.manifests.map(({ repo: _, pin = null, ...manifest }) => ({ ...manifest, pin })),
    earlier: earlierVersions(before, body, now),
    load_state: firstState(set.offered, set.count),
    stale: false,
    loaded_at: now,
    last_fetch_at: now,
    last_fetch_succeeded: true,
    last_fetch_problem: null,
    expires_at,
  }
}
