// Local engines that wait for a change of their policies: one check for all of them in this process (docs/design/platform.md §9).
import { type Database, withUnscopedTransaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
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
export type WaitResult =
  | { readonly kind: 'changed'; readonly answer: EffectiveAnswer }
  | { readonly kind: 'over' | 'check' }

export interface WaitingEngines {
  /** A place for an engine, to give back; null when this key or this process has no place left. */
  readonly enter: (key_id: string) => (() => void) | null
  /** What is known of the policies of an agent without a look at the database: the last that a waiting engine has. */
  readonly known: (org_id: string, agent_id: string) => Known | null
  /** Resolves when the policies change, when `ms` are over, or when `gone` aborts. Rejects with UNAVAILABLE. */
  readonly wait: (waiting: Waiting, ms: number, gone: AbortSignal) => Promise<WaitResult>
  /** Checks the engines of an organization now. */
  readonly announceChange: (org_id: string) => void
  /** Lets engines of a key, or with null all, look whether their credential is still valid. */
  readonly recheck: (key_id: string | null) => void
  readonly isClosed: () => boolean
  /** Ends all waits, and lets no engine wait any more. */
  readonly close: () => void
}

export interface WaitingLimits {
  readonly maxPerKey: number
  readonly maxPerProcess: number
}

/** A waiting engine is a socket and a few hundred bytes. */
const defaultLimits: WaitingLimits = { maxPerKey: 2_000, maxPerProcess: 10_000 }
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
  is_busy: boolean
}

export function createWaitingEngines(parts: PolicyParts, limits: WaitingLimits = defaultLimits): WaitingEngines {
  const { db } = parts
  const organizations = new Map<string, Organization>()
  const known = new Map<string, Known>()
  const taken = new Map<string, number>()
  let total = 0
  let is_closed = false
  let timer: NodeJS.Timeout | null = null
  let checked_at = Number.NEGATIVE_INFINITY

  const organizationOf = (org_id: string) => {
    const found = organizations.get(org_id) ?? { places: new Set(), is_busy: false }
    organizations.set(org_id, found)
    return found
  }
  const remember: Remember = ({ scope, agent_id, etag, config_version, mark }) => {
    if (known.size >= maxKnown) known.clear()
    known.set(`${scope.org_id} ${agent_id}`, { etag, config_version, mark })
  }
  const check = async () => {
    const began = performance.now()
    const versions = await configVersions(db, [...organizations.keys()])
    checked_at = began
    for (const [org_id, version] of versions) void update(org_id, version)
  }
  const update = async (org_id: string, version: number) => {
    const organization = organizations.get(org_id)
    if (organization === undefined || organization.is_busy) return
    const outdated = [...organization.places].filter(({ waiting }) => waiting.config_version !== version)
    if (outdated.length === 0) return
    organization.is_busy = true
    try {
      await answerChanged(parts, outdated, remember)
    } catch {
      // The next check finds them again; a wait ends with UNAVAILABLE when checks fail for long.
    } finally {
      organization.is_busy = false
    }
  }
  const run = async () => {
    await check().catch(() => undefined)
    timer = organizations.size === 0 || is_closed ? null : setTimeout(run, checkIntervalMs)
  }
  const start = () => {
    if (timer !== null || is_closed) return
    checked_at = performance.now()
    timer = setTimeout(run, checkIntervalMs)
  }
  const everyPlace = () => [...organizations.values()].flatMap(({ places }) => [...places])

  return {
    enter: (key_id) => {
      const own = taken.get(key_id) ?? 0
      if (is_closed || own >= limits.maxPerKey || total >= limits.maxPerProcess) return null
      taken.set(key_id, own + 1)
      total += 1
      return () => {
        const left = (taken.get(key_id) ?? 1) - 1
        if (left === 0) taken.delete(key_id)
        else taken.set(key_id, left)
        total -= 1
      }
    },
    known: (org_id, agent_id) => known.get(`${org_id} ${agent_id}`) ?? null,
    wait: (waiting, ms, gone) => {
      const { org_id } = waiting.scope
      const organization = organizationOf(org_id)
      remember(waiting)
      const waited = place(organization, waiting, ms, gone).then((result) => {
        if (organization.places.size === 0 && organizations.get(org_id) === organization) organizations.delete(org_id)
        if (result.kind === 'over' && !is_closed && performance.now() - checked_at > maxCheckAgeMs)
          throw new PlatformError('UNAVAILABLE', 'the database is unavailable: retry')
        return result
      })
      start()
      return waited
    },
    announceChange: (org_id) => {
      if (organizations.has(org_id)) void check().catch(() => undefined)
    },
    recheck: (key_id) => {
      for (const { waiting, end } of everyPlace())
        if (key_id === null || waiting.key_id === key_id) end({ kind: 'check' })
    },
    isClosed: () => is_closed,
    close: () => {
      is_closed = true
      if (timer !== null) clearTimeout(timer)
      for (const { end } of everyPlace()) end({ kind: 'over' })
    },
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

type Remember = (waiting: Waiting) => void

/** Answers the engines whose policies changed; the others wait on for the next change. */
async function answerChanged(parts: PolicyParts, outdated: readonly Place[], remember: Remember): Promise<void> {
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
  for (let from = 0; from < changed.length; from += chunk) {
    const agent_ids = changed.slice(from, from + chunk)
    const loaded = await effectivePoliciesOf(parts, scope, agent_ids)
    const wanted = new Set(agent_ids)
    for (const one of outdated)
      if (wanted.has(one.waiting.agent_id)) answer(one, loaded.config_version, loaded.agents.get(one.waiting.agent_id))
  }
}
