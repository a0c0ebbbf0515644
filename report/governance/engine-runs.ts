// The known states of each run of an agent's engines, from the intervals that they reported (docs/design/reports.md §2).
import type { EngineHeartbeat } from '@svc/schemas'
import { type GovernanceInterval, heartbeatTimeoutMs, maxClockSkewMs } from './governance.js'
import { firstFrom, type Span, strongestSpans } from './spans.js'

/** A state that a run of an engine reported; times are ms since 1970. */
export interface KnownInterval {
  readonly agent_id: string
  readonly log_index: number
  readonly instance_id: string
  readonly load_state: EngineHeartbeat['load_state']
  readonly since: number
  readonly seen_from: number
  readonly last_seen_at: number
  readonly ended: boolean
}

/** Governed, or why not; `silent`: the run did not report. */
export type RunKind = 'governed' | 'silent' | Extract<KnownInterval['load_state'], GovernanceInterval['reason']>

/** The states by their rank when reports of a run contradict each other: the strongest first. */
export const runKinds: readonly RunKind[] = ['unavailable', 'all_dropped', 'none_configured', 'silent', 'governed']

export interface EngineRun {
  readonly instance_id: string
  /** From the first time that is known; ms since 1970. The spans do not overlap. */
  readonly from: number
  readonly spans: readonly Span<RunKind>[]
}

/** The time after which a silent run counts as ended, if other runs of the agent were heard since then. */
export const silentRunEndsMs = 24 * 3_600_000

/** The runs of one agent as of `at` (ms since 1970); `intervals` are those that were known then. */
export function engineRuns(intervals: readonly KnownInterval[], at: number): EngineRun[] {
  const runs = [...byRun(intervals).values()].map((own) => readRun(own, at))
  const starts = runs.map(({ from }) => from).sort((a, b) => a - b)
  const ends = runs.map(({ to }) => to).sort((a, b) => b - a)
  return runs.map((run) => {
    const { instance_id, from, to, known } = run
    // The latest end of all runs is that of another one, or is not later than this one's.
    const until = run.ended ? to : silentUntil(run, starts, ends[0] ?? to, at)
    return { instance_id, from, spans: strongestSpans([...known, { from: to, to: until, kind: 'silent' }], runKinds) }
  })
}

function byRun(intervals: readonly KnownInterval[]): Map<string, KnownInterval[]> {
  const runs = new Map<string, KnownInterval[]>()
  for (const interval of intervals) {
    const own = runs.get(interval.instance_id)
    if (own === undefined) runs.set(interval.instance_id, [interval])
    else own.push(interval)
  }
  return runs
}

interface KnownRun {
  readonly instance_id: string
  readonly from: number
  readonly to: number
  /** True if the engine reported that it stopped at `to`. */
  readonly ended: boolean
  /** Includes the time between reports in which the run was silent. */
  readonly known: readonly Span<RunKind>[]
}

function readRun(intervals: readonly KnownInterval[], at: number): KnownRun {
  const latest = intervals.reduce((a, b) => (isLater(b, a) ? b : a))
  const isLive = !latest.ended && latest.last_seen_at > at - heartbeatTimeoutMs
  const claims = intervals
    .map((interval) => ({
      from: Math.min(interval.seen_from, at),
      to: isLive && interval === latest ? at : Math.min(interval.last_seen_at, at),
      kind: kindOf(interval.load_state),
    }))
    .sort((a, b) => a.from - b.from || a.to - b.to || runKinds.indexOf(a.kind) - runKinds.indexOf(b.kind))
  const { gaps, to } = gapsBetween(claims)
  const ended = intervals.some((interval) => interval.ended && interval.last_seen_at >= to)
  return { instance_id: latest.instance_id, from: claims[0]?.from ?? at, to, ended, known: [...claims, ...gaps] }
}

/** True if a heartbeat can still extend `a` and not `b`. */
function isLater(a: KnownInterval, b: KnownInterval): boolean {
  return a.since > b.since || (a.since === b.since && a.log_index > b.log_index)
}

/** A short gap belongs to the state before it: heartbeats come once a minute, and the next state ends the one before. */
function gapsBetween(claims: readonly Span<RunKind>[]) {
  const gaps: Span<RunKind>[] = []
  let [last] = claims
  for (const claim of claims) {
    if (last === undefined) break
    const isShort = claim.from - last.to < heartbeatTimeoutMs
    if (claim.from > last.to) gaps.push({ from: last.to, to: claim.from, kind: isShort ? last.kind : 'silent' })
    if (claim.to > last.to || (claim.to === last.to && isStronger(claim.kind, last.kind))) last = claim
  }
  return { gaps, to: last?.to ?? 0 }
}

function isStronger(a: RunKind, b: RunKind): boolean {
  return runKinds.indexOf(a) < runKinds.indexOf(b)
}

function kindOf(load_state: KnownInterval['load_state']): RunKind {
  return load_state === 'enforcing' || load_state === 'stale_cache' ? 'governed' : load_state
}

/** The time at which a run that is not heard any more stops counting as silent. */
function silentUntil({ from, to }: KnownRun, starts: readonly number[], last_end: number, at: number): number {
  // A run that began a little before can have replaced this one: clocks differ.
  const least = Math.max(from + 1, to - maxClockSkewMs)
  const replaced = Math.max(to, starts[firstFrom(starts, least)] ?? at)
  return Math.min(replaced, last_end > to + silentRunEndsMs ? to + silentRunEndsMs : at, at)
}
