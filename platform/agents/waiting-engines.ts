// Local engines that wait for a change of their policies: one check for all of them in this process (docs/design/platform.md §9).
import { type Database, withUnscopedTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { gauge, type Metric } from '../http/exposition.js'
import { batchedPolicies, type LoadBatched } from './batched-policies.js'
import { changedAgents } from './commands/changed-agents.js'
import {
  type EffectiveAnswer,
  effectivePoliciesOf,
  type InEffect,
  type PolicyParts,
} from './commands/effective-policies.js'
import { configVersionsUnscoped, type PolicyMark } from './store/policy-marks.js'

/** An engine that knows the policies with this entity tag. */
export interface Waiting {
  readonly scope: Scope
  readonly key_id: string
  readonly agent_id: string
  readonly etag: string
  readonly config_version: number
  readonly mark: PolicyMark
}

/** `over`: no change in that time. `check`: the credential may have ended, or the process stops. */
type WaitResult = { readonly kind: 'changed'; readonly answer: EffectiveAnswer } | { readonly kind: 'over' | 'check' }

export interface WaitingEngines {
  /** A place for an engine, to give back; null when its key, its organization or this process has no place left. */
  readonly enter: (org_id: string, key_id: string) => (() => void) | null
  /** The policies of an agent as far as they are known without the database: the last that a waiting engine has. */
  readonly known: (org_id: string, agent_id: string) => Known | null
  /** The policies of an agent, loaded with those of other engines that ask meanwhile. */
  readonly load: LoadBatched
  /** Resolves when the policies change, when `ms` are over, or when `gone` aborts. Rejects with UNAVAILABLE. */
  readonly wait: (waiting: Waiting, ms: number, gone: AbortSignal) => Promise<WaitResult>
  /** Checks the engines of an organization now. */
  readonly announceChange: (org_id: string) => void
  /** Lets engines of a key, or with null all, look whether their credential is still valid. */
  readonly recheck: (key_id: string | null) => void
  readonly isClosed: () => boolean
  readonly metrics: () => readonly Metric[]
  /** Ends all waits, and lets no engine wait any more. */
  readonly close: () => void
}

interface WaitingLimits {
  readonly maxPerKey: number
  readonly maxPerProcess: number
}

/** A waiting engine is a socket and a few hundred bytes. */
const defaultLimits: WaitingLimits = { maxPerKey: 2_000, maxPerProcess: 20_000 }
/** Between two checks: a change reaches every engine in less than a second, also from another process. */
const checkIntervalMs = 250
/** After this time without a check, nothing is known of the policies. */
const maxCheckAgeMs = 2_000
/** Engines whose policies are loaded together: the first are answered while the others load. */
const chunk = 100

/** Agents whose last state is kept, of engines that waited. */
const maxKnown = 20_000

type Known = Pick<Waiting, 'etag' | 'config_version' | 'mark'>

interface Place {
  waiting: Waiting
  readonly end: (result: WaitResult) => void
}

interface Organization {
  readonly places: Set<Place>
  /** The version for which a search is in progress. */
  sought: number | null
  /** Another version that a check found meanwhile. */
  missed: number | null
}

export function createWaitingEngines(parts: PolicyParts, limits: WaitingLimits = defaultLimits): WaitingEngines {
  const organizations = new Map<string, Organization>()
  const places = countedPlaces(limits)
  const known = rememberedStates()
  const load = batchedPolicies(parts)
  let is_closed = false

  const check = async () => {
    const versions = await configVersions(parts.db, [...organizations.keys()])
    for (const [org_id, version] of versions) void update(parts, organizations.get(org_id), version, known.remember)
  }
  const checks = repeated(check, () => organizations.size > 0)
  const everyPlace = () => [...organizations.values()].flatMap((organization) => [...organization.places])

  return {
    enter: (org_id, key_id) => (is_closed ? null : places.enter(org_id, key_id)),
    known: known.of,
    load: async (scope, agent_id) => {
      const loaded = await load(scope, agent_id)
      const found = loaded.agents.get(agent_id)
      if (found !== undefined) known.remember({ ...found, scope, agent_id, config_version: loaded.config_version })
      return loaded
    },
    wait: async (waiting, ms, gone) => {
      const { org_id } = waiting.scope
      const organization = organizations.get(org_id) ?? { places: new Set(), sought: null, missed: null }
      organizations.set(org_id, organization)
      known.remember(waiting)
      checks.start()
      const result = await place(organization, waiting, ms, gone)
      if (organization.places.size === 0 && organizations.get(org_id) === organization) organizations.delete(org_id)
      if (result.kind === 'over' && !is_closed && checks.age() > maxCheckAgeMs)
        throw new PlatformError('UNAVAILABLE', 'the database is unavailable: retry')
      return result
    },
    announceChange: (org_id) => {
      if (organizations.has(org_id)) void checks.now()
    },
    recheck: (key_id) => {
      for (const { waiting, end } of everyPlace())
        if (key_id === null || waiting.key_id === key_id) end({ kind: 'check' })
    },
    metrics: () => [
      gauge('svc_waiting_engines', 'Local engines that wait for a change at this process.', places.total()),
    ],
    isClosed: () => is_closed,
    close: () => {
      is_closed = true
      checks.stop()
      for (const { end } of everyPlace()) end({ kind: 'over' })
    },
  }
}

/**
 * Counts the waiting engines of each key, of each organization and of the process. An organization has at most as many places as
 * are free, so that no number of keys takes those of the others, whose engines would learn of a stop late.
 */
function countedPlaces({ maxPerKey, maxPerProcess }: WaitingLimits) {
  const taken = new Map<string, number>()
  let total = 0
  const add = (one: string, count: 1 | -1) => {
    const now = (taken.get(one) ?? 0) + count
    if (now === 0) taken.delete(one)
    else taken.set(one, now)
  }
  return {
    total: () => total,
    enter: (org_id: string, key_id: string) => {
      const key = `${org_id} ${key_id}`
      if ((taken.get(key) ?? 0) >= maxPerKey || (taken.get(org_id) ?? 0) >= maxPerProcess - total) return null
      const count = (by: 1 | -1) => {
        add(key, by)
        add(org_id, by)
        total += by
      }
      count(1)
      return () => count(-1)
    },
  }
}

/** The last states, however old: each holds the version at which it was true. */
function rememberedStates() {
  const known = new Map<string, Known>()
  return {
    of: (org_id: string, agent_id: string) => known.get(`${org_id} ${agent_id}`) ?? null,
    remember: ({ scope, agent_id, etag, config_version, mark }: Omit<Waiting, 'key_id'>) => {
      if (known.size >= maxKnown) known.clear()
      known.set(`${scope.org_id} ${agent_id}`, { etag, config_version, mark })
    },
  }
}

/** Repeats the check while it `isNeeded`. `age`: ms since the begin of the last one that succeeded. */
function repeated(check: () => Promise<void>, isNeeded: () => boolean) {
  let timer: NodeJS.Timeout | null = null
  let is_stopped = false
  let checked_at = 0
  const now = async () => {
    const began = performance.now()
    try {
      await check()
      checked_at = began
    } catch {
      // The next check finds the same changes; a wait ends with UNAVAILABLE when checks fail for long.
    }
  }
  const run = async () => {
    await now()
    timer = isNeeded() && !is_stopped ? setTimeout(run, checkIntervalMs) : null
  }
  return {
    now,
    age: () => performance.now() - checked_at,
    start: () => {
      if (timer !== null || is_stopped) return
      checked_at = performance.now()
      timer = setTimeout(run, checkIntervalMs)
    },
    stop: () => {
      is_stopped = true
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/**
 * Answers the engines of an organization that know another version; one such search at a time. A change that arrives during a
 * search is not kept waiting: the search ends after the engines it is loading, and a new one begins, with stopped agents first.
 */
async function update(parts: PolicyParts, organization: Organization | undefined, version: number, remember: Remember) {
  if (organization === undefined) return
  if (organization.sought !== null) {
    if (organization.sought !== version) organization.missed = version
    return
  }
  try {
    for (let next: number | null = version; next !== null; next = organization.missed) {
      const found = next
      organization.sought = found
      organization.missed = null
      const outdated = [...organization.places].filter(({ waiting }) => waiting.config_version !== found)
      if (outdated.length > 0) await answerChanged(parts, organization, outdated, remember)
    }
  } catch {
    // The next check finds them again.
  } finally {
    organization.sought = null
    organization.missed = null
  }
}

function configVersions(db: Database, org_ids: readonly string[]) {
  return withUnscopedTransaction(db, (tx) => configVersionsUnscoped(tx, org_ids))
}

function place(organization: Organization, waiting: Waiting, ms: number, gone: AbortSignal): Promise<WaitResult> {
  return new Promise((resolve) => {
    const end = (result: WaitResult) => {
      organization.places.delete(own)
      clearTimeout(timer)
      gone.removeEventListener('abort', leave)
      resolve(result)
    }
    const leave = () => end({ kind: 'check' })
    const own: Place = { waiting, end }
    const timer = setTimeout(() => end({ kind: 'over' }), ms)
    gone.addEventListener('abort', leave)
    organization.places.add(own)
    if (gone.aborted) leave()
  })
}

type Remember = (waiting: Omit<Waiting, 'key_id'>) => void

/**
 * Answers the engines whose policies changed; the others wait on for the next change. Ends after the first of them when the search
 * is outdated.
 */
async function answerChanged(
  parts: PolicyParts,
  organization: Organization,
  outdated: readonly Place[],
  remember: Remember,
): Promise<void> {
  const [first] = outdated
  if (first === undefined) return
  const { scope } = first.waiting
  const moveOn = (one: Place, known: Omit<Known, 'etag'>) => {
    one.waiting = { ...one.waiting, ...known }
    remember(one.waiting)
  }
  const answer = (one: Place, config_version: number, now: InEffect | undefined) => {
    if (now === undefined) return one.end({ kind: 'check' })
    const { body, etag, mark } = now
    if (etag === one.waiting.etag) return moveOn(one, { config_version, mark })
    remember({ ...one.waiting, etag, config_version, mark })
    one.end({ kind: 'changed', answer: { body, etag } })
  }
  const marks = new Map(outdated.map(({ waiting }) => [waiting.agent_id, waiting.mark]))
  const { config_version, changed } = await changedAgents(parts, scope, marks)
  const isChanged = new Set(changed)
  for (const one of outdated)
    if (!isChanged.has(one.waiting.agent_id)) moveOn(one, { config_version, mark: one.waiting.mark })
  for (let from = 0; from < changed.length && (from === 0 || organization.missed === null); from += chunk) {
    const agent_ids = changed.slice(from, from + chunk)
    const loaded = await effectivePoliciesOf(parts, scope, agent_ids)
    const wanted = new Set(agent_ids)
    for (const one of outdated)
      if (wanted.has(one.waiting.agent_id)) answer(one, loaded.config_version, loaded.agents.get(one.waiting.agent_id))
  }
}
