// The knowledge of the platform and of the engines about one agent, put together (docs/design/reports.md §2). Times are ms since 1970.
import { isoTime } from '@svc/schemas'
import { engineRuns, type KnownInterval, type RunKind, runKinds } from './engine-runs.js'
import { type Governance, type GovernanceInterval, limitIntervals } from './governance.js'
import { firstFrom, type Span, strongestSpans, uncovered, type Window, within } from './spans.js'

type Kind = RunKind | GovernanceInterval['reason']

export interface AgentFacts {
  /** The times in which the agent existed and was active, within the period and before the cut-off; in order, without overlaps. */
  readonly counted: readonly Window[]
  /** The times in which the platform had an enforced policy for the agent. */
  readonly enforced: readonly Window[]
  readonly intervals: readonly KnownInterval[]
  /** The time of the cut-off. */
  readonly at: number
}

/** As read, before it is known which steps came while no engine ran. */
export interface ReadGovernance extends Governance {
  /** All time in which no engine ran; ms since 1970, in order, without overlaps. */
  readonly idle: readonly Window[]
}

/** The most intervals that are listed for an agent. */
const maxIntervals = 200

const kinds: readonly Kind[] = ['no_policy', ...runKinds.filter((kind) => kind !== 'governed'), 'no_engine', 'governed']

export function governanceOf(facts: AgentFacts): ReadGovernance {
  const known = [...platformSpans(facts), ...engineSpans(facts)]
  const strongest = strongestSpans<Kind>(known, kinds)
  const idle = facts.counted.flatMap((window) => uncovered(window, strongest))
  const found = [...known, ...idle.map((window): FoundSpan => ({ ...window, kind: 'stopped', instance_id: null }))]
  const seconds = { ...secondsOf(strongest), idle_seconds: secondsIn(idle) }
  // An engine that restarts every two minutes has thousands of them: only those that are kept are written.
  const shown = found.flatMap(shownSpan).sort(byTime)
  const kept = limitIntervals(shown, maxIntervals, ({ from, to }) => to - from)
  return { ...seconds, intervals: kept.map(written), more: shown.length - kept.length, idle }
}

/**
 * Time in which no engine ran is ungoverned where steps came that no engine had evaluated. `undecided`: when the platform received
 * those of the agent, ms since 1970, in order.
 */
export function withUndecided({ idle, ...governance }: ReadGovernance, undecided: readonly number[]): Governance {
  const counted = idle.map((window) => ({ ...window, steps: countIn(undecided, window) }))
  const ungoverned = counted.filter(({ steps }) => steps > 0)
  if (ungoverned.length === 0) return governance
  const all = governance.intervals.length + governance.more
  const shown = counted.map(({ steps, ...window }): GovernanceInterval => {
    const interval = written({ ...shownTimes(window), state: 'idle', reason: 'stopped', instance_id: null })
    return steps === 0 ? interval : { ...interval, state: 'ungoverned', reason: 'undecided', steps }
  })
  const others = governance.intervals.filter(({ state }) => state !== 'idle')
  const intervals = limitIntervals(
    [...others, ...shown].sort((a, b) => compare(a.from, b.from) || compare(a.to, b.to)),
    maxIntervals,
    ({ from, to }) => Date.parse(to) - Date.parse(from),
  )
  // Steps can come within half a second: that time is ungoverned all the same.
  const seconds = Math.max(1, secondsIn(ungoverned))
  return {
    ...governance,
    ungoverned_seconds: governance.ungoverned_seconds + seconds,
    idle_seconds: Math.max(0, governance.idle_seconds - seconds),
    intervals,
    more: all - intervals.length,
  }
}

/** The number of the ascending times within the window. */
function countIn(times: readonly number[], { from, to }: Window): number {
  return firstFrom(times, to) - firstFrom(times, from)
}

function secondsIn(windows: readonly Window[]): number {
  return Math.round(windows.reduce((sum, { from, to }) => sum + to - from, 0) / 1000)
}

interface FoundSpan extends Span<Kind> {
  readonly instance_id: string | null
}

function platformSpans({ counted, enforced }: AgentFacts): FoundSpan[] {
  const gaps = counted.flatMap((window) => uncovered(window, enforced))
  return gaps.map((gap) => ({ ...gap, kind: 'no_policy', instance_id: null }))
}

/** The spans of every run, and the time before the first. */
function engineSpans({ counted, intervals, at }: AgentFacts): FoundSpan[] {
  const runs = engineRuns(intervals, at)
  const first = runs.reduce((least, { from }) => Math.min(least, from), at)
  const before: FoundSpan = { from: Number.NEGATIVE_INFINITY, to: first, kind: 'no_engine', instance_id: null }
  const own = runs.flatMap(({ instance_id, spans }) =>
    spans.map(({ from, to, kind }): FoundSpan => ({ from, to, kind, instance_id })),
  )
  return within([before, ...own], counted)
}

function secondsOf(spans: readonly Span<Kind>[]) {
  const total = { governed: 0, ungoverned: 0, unknown: 0, idle: 0 }
  for (const { from, to, kind } of spans) total[stateOf(kind)] += to - from
  const seconds = (ms: number) => Math.round(ms / 1000)
  return {
    governed_seconds: seconds(total.governed),
    ungoverned_seconds: seconds(total.ungoverned),
    unknown_seconds: seconds(total.unknown),
  }
}

function stateOf(kind: Kind): 'governed' | GovernanceInterval['state'] {
  if (kind === 'governed') return kind
  if (kind === 'stopped') return 'idle'
  return kind === 'silent' || kind === 'no_engine' ? 'unknown' : 'ungoverned'
}

type ShownSpan = Window & Pick<GovernanceInterval, 'state' | 'reason' | 'instance_id'>

function shownSpan({ from, to, kind, instance_id }: FoundSpan): ShownSpan[] {
  const state = stateOf(kind)
  if (kind === 'governed' || state === 'governed') return []
  return [{ ...shownTimes({ from, to }), state, reason: kind, instance_id }]
}

const shownTimes = ({ from, to }: Window): Window => ({ from: Math.trunc(from), to: Math.trunc(to) })

function byTime(a: ShownSpan, b: ShownSpan): number {
  return a.from - b.from || a.to - b.to || compare(a.instance_id ?? '', b.instance_id ?? '')
}

function written({ from, to, state, reason, instance_id }: ShownSpan): GovernanceInterval {
  return { from: isoTime(from), to: isoTime(to), state, reason, instance_id }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
