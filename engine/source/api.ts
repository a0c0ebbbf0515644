// Policies from a platform: fetched, cached on disk, and asked for again in the background (docs/design/engine.md §6).
import type { PolicyCache } from './cache.js'
import { changeLines, problemLine, recoveryLine } from './changes.js'
import { afterAnswer, afterCut, type Connection, delayBefore, isCut, notConnected, waitOf } from './connection.js'
import { fetchPolicies, type PlatformAddress } from './fetch.js'
import { emptyMemory, type Learned, learn, type Memory } from './memory.js'
import type { LoadedPolicies, PolicySource } from './source.js'
import { isGoverned } from './state.js'

export interface ApiSourceParts extends PlatformAddress {
  readonly cache: PolicyCache
  /** The time for which fetched policies are valid, ms; null for the platform's value. */
  readonly ttl: number | null
  readonly clock: () => number
  /** From 0 to before 1; spreads the requests of many engines. */
  readonly random: () => number
  /** The engine blocks while no policy is in effect. */
  readonly fail_closed: boolean
  readonly report: (line: string) => void
}

/** The platform answered at the start that it has no policies for this key and agent: a variable is wrong. */
export class PoliciesRejected extends Error {
  readonly code = 'POLICIES_REJECTED'
}

/**
 * Resolves after the first fetch, also when the platform cannot be reached. Rejects with PoliciesRejected when it rejects the key,
 * the agent or the path and no earlier policies are on disk: an engine that starts anyway would allow every step.
 */
export async function apiSource(parts: ApiSourceParts): Promise<PolicySource> {
  const closing = new AbortController()
  const reportChanges = reporter(parts)
  let state: State = { memory: emptyMemory(parts.clock(), parts.ttl), connection: notConnected }
  /** The request that the platform may hold; a reload replaces it. */
  let held: { readonly abort: AbortController; readonly done: Promise<void> } | null = null
  let fetching: Promise<LoadedPolicies> | null = null
  let timer: NodeJS.Timeout | null = null

  const ask = async (wait: number, signal: AbortSignal) => {
    const { learned, connection } = await request(parts, state, wait, signal)
    if (signal.aborted) return
    const before = state.memory
    state = { memory: learned?.next ?? before, connection }
    if (learned === null) return
    assertAccepted(before, learned)
    reportChanges(before, learned)
  }
  const schedule = () => {
    if (closing.signal.aborted) return
    timer = setTimeout(advance, delayBefore(state.connection, state.memory, parts.random()))
    timer.unref()
  }
  /** Asks for a change; a platform that holds no requests answers at once. */
  const advance = () => {
    const wait = waitOf(state.connection, state.memory)
    if (wait === 0) return void fetchNow()
    const abort = new AbortController()
    const signal = AbortSignal.any([closing.signal, abort.signal])
    const done = ask(wait, signal).then(() => {
      if (signal.aborted) return
      held = null
      schedule()
    })
    held = { abort, done }
  }
  /** `wait` is not 0 for the first request only, which no platform holds: its answer tells whether later ones are held. */
  const fetchNow = (wait = 0) => {
    if (timer !== null) clearTimeout(timer)
    held?.abort.abort()
    held = null
    fetching ??= ask(wait, closing.signal).then(() => {
      fetching = null
      schedule()
      return state.memory.current
    })
    return fetching
  }

  await fetchNow(waitOf(state.connection, state.memory))
  return {
    current: () => state.memory.current,
    reload: () => fetchNow(),
    close: async () => {
      closing.abort()
      if (timer !== null) clearTimeout(timer)
      await Promise.all([fetching, held?.done])
    },
  }
}

/** Throws for a rejection at the start that leaves no policies in effect. */
function assertAccepted({ started }: Memory, { next, problem, is_rejected }: Learned): void {
  if (!started && is_rejected && !isGoverned(next.current.load_state))
    throw new PoliciesRejected(`${problem}; the engine does not start`)
}

interface State {
  readonly memory: Memory
  readonly connection: Connection
}

/** One request, and what it teaches; null for a connection that was cut, which says nothing about the platform. */
async function request(parts: ApiSourceParts, { memory, connection }: State, wait: number, signal: AbortSignal) {
  const began = parts.clock()
  const result = await fetchPolicies(parts, { etag: memory.etag, now: parts.clock, signal, wait })
  const held = { wait, took: parts.clock() - began }
  if (signal.aborted) return { learned: null, connection }
  if (isCut(result, held)) return { learned: null, connection: afterCut(connection, held) }
  return {
    learned: learn(memory, result, parts),
    connection: afterAnswer(connection, result, held, memory.failures),
  }
}

/** Reports each problem once until a fetch succeeds; `svc serve` reports the result of the start. */
function reporter({ report, fail_closed }: ApiSourceParts) {
  let reported: ReadonlySet<string> = new Set()
  return (before: Memory, { next, problem }: Learned) => {
    if (problem !== null && !reported.has(problem)) report(problemLine(problem, next.current))
    reported = problem === null ? new Set() : new Set([...reported, problem])
    if (!before.started) return
    const recovered = recoveryLine(before.current, next.current)
    if (recovered !== null) report(recovered)
    for (const line of changeLines(before.current, next.current, fail_closed)) report(line)
  }
}
