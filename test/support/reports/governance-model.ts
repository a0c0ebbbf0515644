// A second, simple answer to when an agent was governed: it looks at every ten seconds by itself.
import { isoTime } from '@svc/schemas'
import type { ReadGovernance } from '../../../report/governance/agent-governance.js'
import type { GovernanceInterval } from '../../../report/governance/governance.js'
import type { Beat } from './governance.js'

/** A heartbeat that arrived at a time, ms since 1970. */
export interface Arrival {
  readonly at: number
  readonly beat: Beat
}

/** All times are multiples of this, ms. */
export const tick = 10_000

const minutes = 60_000
const reasons = ['unavailable', 'all_dropped', 'none_configured'] as const

/** One state of a run, as far as it is known. */
interface Claim {
  readonly run: string
  readonly state: Beat['state']
  readonly since: number
  readonly from: number
  to: number
  ended_at: number | null
}

type Found = GovernanceInterval['reason'] | 'governed' | null

/** `arrivals` are those before the cut-off at `at`, in order; the agent exists from `registered` on. */
export function modelGovernance(
  arrivals: readonly Arrival[],
  { registered, from, to, at }: { registered: number; from: number; to: number; at: number },
): ReadGovernance {
  const claims = claimsOf(arrivals)
  const runs = [...new Set(claims.map(({ run }) => run))].map((run) => runOf(run, claims, at))
  const first = Math.min(at, ...runs.map((run) => run.from))
  const columns: { instance_id: string | null; found: (time: number) => Found }[] = [
    { instance_id: null, found: (time) => (time < first ? 'no_engine' : null) },
    ...runs.map((run) => ({ instance_id: run.name, found: (time: number) => foundAt(run, runs, time, at) })),
  ]
  const times: number[] = []
  for (let time = Math.max(from, registered); time < Math.min(to, at); time += tick) times.push(time)
  const table = times.map((time) => columns.map(({ found }) => found(time)))
  const seconds = (wanted: string) => (table.filter((row) => worst(row) === wanted).length * tick) / 1000
  const intervals = columns.flatMap(({ instance_id }, index) =>
    merged(
      times,
      table.map((row) => row[index] ?? null),
      instance_id,
    ),
  )
  const idle = merged(
    times,
    table.map((row) => (worst(row) === null ? 'stopped' : null)),
    null,
  )
  intervals.push(...idle)
  intervals.sort((a, b) => {
    const keys = [a, b].map((one) => `${one.from} ${one.to} ${one.instance_id ?? ''}`) as [string, string]
    return keys[0] < keys[1] ? -1 : 1
  })
  return {
    governed_seconds: seconds('governed'),
    ungoverned_seconds: seconds('ungoverned'),
    unknown_seconds: seconds('unknown'),
    idle_seconds: table.filter((row) => worst(row) === null).length * (tick / 1000),
    intervals,
    more: 0,
    idle: idle.map((interval) => ({ from: Date.parse(interval.from), to: Date.parse(interval.to) })),
  }
}

function claimsOf(arrivals: readonly Arrival[]): Claim[] {
  const claims: Claim[] = []
  for (const { at, beat } of arrivals) {
    const { run, state, since, until = at, ended = false } = beat
    const end = Math.min(until, at)
    const known = claims.find((one) => one.run === run && one.state === state && one.since === since)
    if (known === undefined) {
      const from = Math.min(since, at)
      const to = Math.max(from, end)
      claims.push({ run, state, since, from, to, ended_at: ended ? to : null })
      continue
    }
    if (known.ended_at === known.to && at - known.to < 2.5 * minutes) continue
    known.to = Math.max(known.to, end)
    if (ended) known.ended_at = known.to
  }
  return claims
}

interface Run {
  readonly name: string
  readonly claims: readonly Claim[]
  readonly from: number
  readonly to: number
  readonly ended: boolean
}

function runOf(name: string, all: readonly Claim[], at: number): Run {
  const own = all.filter(({ run }) => run === name)
  const newest = own.reduce((a, b) => (b.since > a.since ? b : a))
  const claims = own.map((claim) => {
    const isLive = claim === newest && claim.ended_at !== claim.to && at - claim.to < 3 * minutes
    return { ...claim, to: isLive ? at : claim.to }
  })
  const to = Math.max(...claims.map((claim) => claim.to))
  const ended = own.some(({ ended_at }) => ended_at === to)
  return { name, claims, from: Math.min(...claims.map(({ from }) => from)), to, ended }
}

function foundAt(run: Run, runs: readonly Run[], time: number, at: number): Found {
  if (time < run.from) return null
  const covering = run.claims.filter(({ from, to }) => from <= time && time < to)
  if (covering.length > 0) return strongest(covering)
  if (time < run.to) return inGap(run, time)
  if (run.ended) return null
  const others = runs.filter((other) => other !== run)
  const isReplaced = others.some(
    (other) => other.from > run.from && other.from >= run.to - 5 * minutes && other.from <= time,
  )
  const isGivenUp = time >= run.to + 1440 * minutes && others.some((other) => other.to > run.to + 1440 * minutes)
  return isReplaced || isGivenUp || time >= at ? null : 'silent'
}

function inGap({ claims }: Run, time: number): Found {
  const begin = Math.max(...claims.map(({ to }) => to).filter((to) => to <= time))
  const end = Math.min(...claims.map(({ from }) => from).filter((from) => from > time))
  return end - begin < 3 * minutes ? strongest(claims.filter(({ to }) => to === begin)) : 'silent'
}

function strongest(claims: readonly Claim[]): Found {
  return reasons.find((reason) => claims.some(({ state }) => state === reason)) ?? 'governed'
}

function worst(row: readonly Found[]) {
  if (row.some((found) => reasons.some((reason) => reason === found))) return 'ungoverned'
  if (row.includes('silent')) return 'unknown'
  if (row.includes('governed')) return 'governed'
  return row.includes('no_engine') ? 'unknown' : null
}

function merged(times: readonly number[], column: readonly Found[], instance_id: string | null): GovernanceInterval[] {
  const intervals: GovernanceInterval[] = []
  let begin = 0
  for (let index = 1; index <= column.length; index += 1) {
    const reason = column[begin] ?? null
    if (index < column.length && column[index] === reason) continue
    const state =
      reason === 'stopped' ? 'idle' : reason === 'silent' || reason === 'no_engine' ? 'unknown' : 'ungoverned'
    const [from = 0, last = 0] = [times[begin], times[index - 1]]
    if (reason !== null && reason !== 'governed')
      intervals.push({ from: isoTime(from), to: isoTime(last + tick), state, reason, instance_id })
    begin = index
  }
  return intervals
}
