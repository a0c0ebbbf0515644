// What the platform and the engines know of one agent, put together (docs/design/reports.md §2). Times are ms since 1970.
import { isoTime } from '@svc/schemas'
import { engineRuns, type RunKind, runKinds } from './engine-runs.js'
import { type Governance, type GovernanceInterval, limitIntervals } from './governance.js'
import { type Span, strongestSpans, uncovered, type Window, within } from './spans.js'
import type { KnownInterval } from './store/engines.js'

type Kind = RunKind | GovernanceInterval['reason']

export interface AgentFacts {
  /** When the agent existed and was active, within the period and before the cut-off; in order, without overlaps. */
  readonly counted: readonly Window[]
  /** When the platform had an enforced policy for the agent. */
  readonly enforced: readonly Window[]
  readonly intervals: readonly KnownInterval[]
  /** The time of the cut-off. */
  readonly at: number
}

/** The most intervals that are listed for an agent. */
const maxIntervals = 200

const kinds: readonly Kind[] = ['no_policy', ...runKinds.filter((kind) => kind !== 'governed'), 'no_engine', 'governed']

export function governanceOf(facts: AgentFacts): Governance {
  const found = [...platformSpans(facts), ...engineSpans(facts)]
  const seconds = secondsOf(strongestSpans<Kind>(found, kinds))
  // An engine that restarts every two minutes has thousands of them: only those that are kept are written.
  const shown = found.flatMap(shownSpan).sort(byTime)
  const kept = limitIntervals(shown, maxIntervals, ({ from, to }) => to - from)
  return { ...seconds, intervals: kept.map(written), more: shown.length - kept.length }
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
  const total = { governed: 0, ungoverned: 0, unknown: 0 }
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
  return kind === 'silent' || kind === 'no_engine' ? 'unknown' : 'ungoverned'
}

type ShownSpan = Window & Pick<GovernanceInterval, 'state' | 'reason' | 'instance_id'>

function shownSpan({ from, to, kind, instance_id }: FoundSpan): ShownSpan[] {
  const state = stateOf(kind)
  if (kind === 'governed' || state === 'governed') return []
  return [{ from: Math.trunc(from), to: Math.trunc(to), state, reason: kind, instance_id }]
}

function byTime(a: ShownSpan, b: ShownSpan): number {
  return a.from - b.from || a.to - b.to || compare(a.instance_id ?? '', b.instance_id ?? '')
}

function written({ from, to, state, reason, instance_id }: ShownSpan): GovernanceInterval {
  return { from: isoTime(from), to: isoTime(to), state, reason, instance_id }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b)
}
