// Notes what local engines report beside steps and incidents: an event each, once (docs/adr/0050-trace-delivery.md). What a
// decision without a step found violated is an incident as well (docs/adr/0060-effects.md).
import { findAgents } from '../../agents/store/agents.js'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import type { KeyIdentity } from '../../http/principal.js'
import type { Occurrence } from '../../incidents/actions/matching.js'
import { queueDeliveries, type Triggering } from '../../incidents/actions/triggers.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog, readHeads } from '../../ledger/log.js'
import type { Sealer } from '../../secrets/seal.js'
import { unansweredViolations } from '../approved-steps.js'
import { findReports, insertReports, type ReportId } from '../store/trace-reports.js'
import type { TraceReport } from '../trace-report.js'
import { takeIncidents } from './report-incidents.js'

/** The result of a report: 201, or 200 for one that was made before. */
export type NotedReport = { readonly status: 200 | 201; readonly replayed: boolean } | PlatformError

export interface NotingParts extends Resources, Triggering {
  /** Opens the key that actions are hashed with. */
  readonly sealer: Sealer
}

/**
 * The outcome of each report of the agent, in order. The lock of the log orders it against steps of the same tasks and other
 * processes: a report becomes one event, however often it is sent.
 */
export async function noteTraceReports(
  { db, clock, send, sealer }: NotingParts,
  scope: Scope,
  key: KeyIdentity,
  agent_id: string,
  reports: readonly (TraceReport | PlatformError)[],
): Promise<NotedReport[]> {
  if (!reports.some(isValid)) return reports.filter((report) => report instanceof PlatformError)
  return withTransaction(db, scope, async (tx) => {
    const { size, last_received_at } = await lockLog(scope, tx)
    const allowed = await withinKey(scope, tx, key, agent_id, reports)
    const known = new Set((await findReports(scope, tx, agent_id, allowed.filter(isValid))).map(nameOf))
    const fresh: TraceReport[] = []
    const outcomes = allowed.map((report): NotedReport => {
      if (!isValid(report)) return report
      if (known.has(nameOf(report))) return { status: 200, replayed: true }
      known.add(nameOf(report))
      fresh.push(report)
      return { status: 201, replayed: false }
    })
    const now = Math.max(clock(), last_received_at ?? 0)
    await recordEvents(
      scope,
      tx,
      now,
      fresh.map((report) => eventOf(report, agent_id)),
    )
    // The events are the next leaves of the locked log.
    const rows = fresh.map(({ kind, id }, index) => ({ kind, id, log_index: size + index }))
    await insertReports(scope, tx, agent_id, rows)
    // A violation of a policy that the workspace does not have is in the event alone.
    const violations = await unansweredViolations(scope, tx, sealer, agent_id, fresh)
    await takeIncidents({ send }, scope, tx, now, key, violations)
    const occurrences = fresh.map((report) => occurrenceOf(report, agent_id))
    await queueDeliveries({ send }, scope, tx, now, occurrences)
    return outcomes
  })
}

function isValid<T>(report: T | PlatformError): report is T {
  return !(report instanceof PlatformError)
}

function nameOf({ kind, id }: ReportId): string {
  return `${kind} ${id}`
}

/** The reports, those about tasks of other agents with an error; a task that has no steps yet belongs to no agent. */
async function withinKey(
  scope: Scope,
  tx: Transaction,
  { key_id }: KeyIdentity,
  agent_id: string,
  reports: readonly (TraceReport | PlatformError)[],
) {
  const task_ids = reports.flatMap((report) => (isValid(report) ? (report.task_id ?? []) : []))
  const heads = await readHeads(scope, tx, [...new Set(task_ids)])
  const owners = [...new Set([...heads.values()].map((head) => head.agent_id))].filter((owner) => owner !== agent_id)
  const agents = owners.length === 0 ? [] : await findAgents(scope, tx, owners)
  const own = new Set(agents.filter((agent) => agent.api_key_id === key_id).map((agent) => agent.agent_id))
  return reports.map((report) => {
    if (!isValid(report) || report.task_id === null) return report
    const owner = heads.get(report.task_id)?.agent_id ?? agent_id
    if (owner === agent_id) return report
    return own.has(owner)
      ? new PlatformError('CONFLICT', `task \`${report.task_id}\` belongs to another agent of this API key`)
      : new PlatformError('NOT_FOUND', `this API key has no task \`${report.task_id}\``)
  })
}

const kinds = { unrecorded: 'step.unrecorded', gap: 'trace.gap' } as const

function subjectOf({ task_id }: TraceReport, agent_id: string) {
  return task_id === null
    ? ({ subject_kind: 'agent', subject_id: agent_id } as const)
    : ({ subject_kind: 'task', subject_id: task_id } as const)
}

function eventOf(report: TraceReport, agent_id: string) {
  return { kind: kinds[report.kind], ...subjectOf(report, agent_id), data: { agent_id, ...report.data } }
}

function occurrenceOf(report: TraceReport, agent_id: string): Occurrence {
  const { kind, task_id, cause } = report
  const shown = { ...(task_id !== null && { task_id }), agent_id, ...report.data }
  return {
    on: kinds[kind],
    ...subjectOf(report, agent_id),
    agent_id,
    data: kind === 'gap' ? { gap: shown } : { decision: shown },
    once: `${kind} ${agent_id} ${cause}`,
  }
}
