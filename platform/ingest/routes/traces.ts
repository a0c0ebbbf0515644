import type { IncidentReportResult, TraceAnswer } from '@svc/schemas'
import { agentIdOf, findAgents } from '../../agents/store/agents.js'
import { type Resources, withTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { keyOf } from '../../http/principal.js'
import { byKey, type Call, parameters, route } from '../../http/route.js'
import type { Triggering } from '../../incidents/actions/triggers.js'
import { type IngestParts, listReply, problemResult, remembered, reportResult, submitAll } from '../answers.js'
import { type NotedReport, type NotingParts, noteTraceReports } from '../commands/note-trace-reports.js'
import { type Report, reportIncidents } from '../commands/report-incidents.js'
import type { Pace } from '../pace.js'
import { traceItems, traceLists } from '../trace-body.js'
import type { TraceReport } from '../trace-report.js'

/** Incidents of one transaction, which holds the lock of the log: as many as a request of POST /api/v1/incidents has. */
const maxIncidents = 100

interface TraceParts extends IngestParts, NotingParts {
  readonly pace: Pace
}

export const traceRoutes = [
  route({
    method: 'post',
    path: '/api/v1/traces',
    summary: 'Take the trace of an agent from a local engine: steps, incidents, decisions without a step, and gaps',
    tag: 'Log',
    access: byKey,
    body: 'trace-request',
    lines: true,
    idempotent: true,
    query: { agent_key: parameters.text('the agent, for a body without `agent_key`') },
    responses: { 200: 'trace-answer' },
    handle: (call, parts: TraceParts) =>
      remembered(call, parts, async () => listReply({ ...(await takeTrace(call, parts)) })),
  }),
]

/** Takes the lists one after the other: an incident of a step is then the occurrence that its step has. */
async function takeTrace(call: Call, parts: TraceParts): Promise<TraceAnswer> {
  const lists = traceLists(call)
  const { agent_key } = lists
  const agent_id = await knownAgent(call, parts, agent_key)
  const idempotency_key = call.header('idempotency-key') ?? null
  const items = await traceItems(parts.pace, lists, { agent_key, agent_id, idempotency_key, now: parts.clock() })
  const results = await submitAll(call, parts, items.steps)
  const incidents = await reportAll(call, parts, items.incidents)
  const noted = await noteAll(call, parts, agent_id, [...items.unrecorded, ...items.gaps])
  const count = items.unrecorded.length
  return { results, incidents, unrecorded: noted.slice(0, count), gaps: noted.slice(count) }
}

/** The id of the agent, which may be deactivated: a trace is evidence of attempts. Rejects with NOT_FOUND. */
async function knownAgent({ scope, principal }: Call, { db }: Resources, agent_key: string): Promise<string> {
  const agent_id = agentIdOf(keyOf(principal).first_key_hash, agent_key)
  const [agent] = await withTransaction(db, scope, (tx) => findAgents(scope, tx, [agent_id]))
  if (agent === undefined) {
    const message = `this API key has no agent \`${agent_key}\`: register it first with POST /api/v1/agents`
    throw new PlatformError('NOT_FOUND', message)
  }
  return agent_id
}

async function reportAll(call: Call, parts: Resources & Triggering, reports: readonly Report[]) {
  const results: IncidentReportResult[] = []
  for (let first = 0; first < reports.length; first += maxIncidents) {
    const some = reports.slice(first, first + maxIncidents)
    const outcomes = await reportIncidents(parts, call.scope, keyOf(call.principal), some)
    results.push(...outcomes.map((outcome) => reportResult(outcome, call.request_id)))
  }
  return results
}

async function noteAll(
  { scope, principal, request_id }: Call,
  parts: NotingParts,
  agent_id: string,
  reports: readonly (TraceReport | PlatformError)[],
) {
  const results: ReturnType<typeof notedResult>[] = []
  for (const some of partsOf(reports)) {
    const noted = await noteTraceReports(parts, scope, keyOf(principal), agent_id, some)
    results.push(...noted.map((one) => notedResult(one, request_id)))
  }
  return results
}

/** Parts with as many violations as a transaction has incidents. */
function partsOf(reports: readonly (TraceReport | PlatformError)[]) {
  const parts: (TraceReport | PlatformError)[][] = [[]]
  let count = 0
  for (const report of reports) {
    const own = report instanceof PlatformError ? 0 : report.violations.length
    if (count > 0 && count + own > maxIncidents) {
      parts.push([])
      count = 0
    }
    count += own
    parts.at(-1)?.push(report)
  }
  return parts
}

function notedResult(outcome: NotedReport, request_id: string) {
  return outcome instanceof PlatformError ? problemResult(outcome, request_id) : outcome
}
