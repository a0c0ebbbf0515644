// Counters of the local engine for Prometheus (text exposition format 0.0.4).
import type { EngineHealth, Evaluation } from '@svc/schemas'
import type { LoadedPolicies } from '../source/source.js'
import type { Decisions } from './decisions/decisions.js'

type DecisionCounts = ReturnType<Decisions['counts']>

/** Counts of other parts. */
export interface Counted {
  readonly decisions: DecisionCounts
  readonly trace: EngineHealth['trace']
  /** ms since 1970 */
  readonly now: number
}

export interface Meter {
  readonly evaluated: (outcome: Evaluation['outcome']) => void
  readonly recorded: (incidents: number, steps?: number) => void
  /** Seconds from the last byte of a request to /evaluate to the first byte of its answer. */
  readonly took: (seconds: number) => void
  readonly text: (policies: LoadedPolicies, tasks: number, others: Counted) => string
}

/** Upper bounds in seconds, from well below the target of 300 µs to the times of a stalled machine. */
const bounds = [0.000_05, 0.000_1, 0.000_3, 0.001, 0.003, 0.01, 0.1, 1]
const states = ['enforcing', 'stale_cache', 'none_configured', 'unavailable', 'all_dropped'] as const

export function createMeter(): Meter {
  const evaluations = { allow: 0, warn: 0, ask: 0, block: 0 }
  const counted = { steps: 0, incidents: 0 }
  const buckets = bounds.map(() => 0)
  const took = { sum: 0, count: 0 }
  return {
    evaluated: (outcome) => {
      evaluations[outcome] += 1
    },
    recorded: (incidents, steps = 1) => {
      counted.steps += steps
      counted.incidents += incidents
    },
    took: (time) => {
      took.sum += time
      took.count += 1
      for (const [index, bound] of bounds.entries()) if (time <= bound) buckets[index] = (buckets[index] ?? 0) + 1
    },
    text: (policies, tasks, { decisions, trace, now }) => {
      const { load_state, set, offered } = policies
      const outcomes = Object.entries(evaluations)
      const name = 'svc_evaluate_seconds'
      return `${[
        metric(
          'svc_evaluations_total',
          'counter',
          'Decisions by outcome.',
          outcomes.map(([outcome, count]) => `svc_evaluations_total{outcome="${outcome}"} ${count}`),
        ),
        metric(name, 'histogram', 'Time to decide on a step.', [
          ...bounds.map((bound, index) => `${name}_bucket{le="${bound}"} ${buckets[index]}`),
          `${name}_bucket{le="+Inf"} ${took.count}`,
          `${name}_sum ${took.sum}`,
          `${name}_count ${took.count}`,
        ]),
        metric('svc_steps_recorded_total', 'counter', 'Steps recorded.', [`svc_steps_recorded_total ${counted.steps}`]),
        metric('svc_incidents_total', 'counter', 'Incidents written.', [`svc_incidents_total ${counted.incidents}`]),
        ...decisionMetrics(decisions),
        metric('svc_tasks', 'gauge', 'Tasks in memory.', [`svc_tasks ${tasks}`]),
        metric('svc_policies', 'gauge', 'Policies by whether they are in effect.', [
          `svc_policies{state="in_effect"} ${set.count}`,
          `svc_policies{state="offered"} ${offered}`,
        ]),
        metric(
          'svc_load_state',
          'gauge',
          '1 for the current load state.',
          states.map((state) => `svc_load_state{state="${state}"} ${state === load_state ? 1 : 0}`),
        ),
        ...fetchMetrics(policies, now),
        ...traceMetrics(trace, now),
      ].join('\n')}\n`
    },
  }
}

function metric(name: string, type: string, help: string, rows: readonly string[]): string {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...rows].join('\n')
}

function decisionMetrics({ open, unrecorded }: DecisionCounts): string[] {
  const [waiting, missed] = ['svc_decisions_open', 'svc_decisions_unrecorded_total']
  return [
    metric(waiting, 'gauge', 'Decisions whose steps are not recorded yet.', [`${waiting} ${open}`]),
    metric(missed, 'counter', 'Decisions whose steps were not recorded in time.', [`${missed} ${unrecorded}`]),
  ]
}

/** `expires_at` is null for files, which do not expire. */
function fetchMetrics({ last_fetch_at, last_fetch_succeeded, expires_at }: LoadedPolicies, now: number): string[] {
  return present([
    ['svc_policies_fetched_timestamp_seconds', 'gauge', 'When policies were last asked for.', seconds(last_fetch_at)],
    ['svc_policies_fetched', 'gauge', '1 when policies were fetched then, 0 when not.', last_fetch_succeeded ? 1 : 0],
    [
      'svc_policies_fresh_seconds',
      'gauge',
      'How long the policies in effect count as fresh.',
      expires_at === null ? null : Math.max(0, (expires_at - now) / 1000),
    ],
  ])
}

function seconds(time: number | null): number | null {
  return time === null ? null : time / 1000
}

/** None for a trace without a queue. */
function traceMetrics(trace: EngineHealth['trace'], now: number): string[] {
  const { waiting_lines, waiting_bytes, oldest_at, dropped, rejected, sent } = trace
  const oldest = oldest_at === null ? 0 : Math.max(0, (now - Date.parse(oldest_at)) / 1000)
  const rows = [
    ['svc_trace_waiting_lines', 'gauge', 'Lines of the trace that wait to be sent.', waiting_lines],
    ['svc_trace_waiting_bytes', 'gauge', 'Bytes of the trace that wait to be sent.', waiting_bytes],
    ['svc_trace_oldest_seconds', 'gauge', 'Age of the oldest line that waits to be sent.', waiting_lines && oldest],
    ['svc_trace_dropped_total', 'counter', 'Lines dropped because the spool was full.', dropped],
    ['svc_trace_rejected_total', 'counter', 'Lines that the receiver rejected.', rejected],
    ['svc_trace_sent_total', 'counter', 'Lines that left the queue without being rejected.', sent],
  ] as const
  return present(rows)
}

type Row = readonly [name: string, type: 'gauge' | 'counter', help: string, value: number | null]

function present(rows: readonly Row[]): string[] {
  return rows.flatMap(([name, type, help, value]) =>
    value === null ? [] : [metric(name, type, help, [`${name} ${value}`])],
  )
}
