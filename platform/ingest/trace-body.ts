// The body of POST /api/v1/traces, in any of the shapes that are accepted (docs/design/platform.md §2).
import { withOutputObject } from '@svc/engine/parts'
import { canonical, isMap } from '@svc/proof'
import { isoTime, type TraceRequest } from '@svc/schemas'
import { invalid, PlatformError } from '../errors.js'
import type { Call } from '../http/route.js'
import { readJsonLines, readReportJson, validated } from '../http/validate.js'
import { orProblem } from './answers.js'
import type { Report } from './commands/report-incidents.js'
import { reportIn } from './incident-report.js'
import { type Pace, paced } from './pace.js'
import type { StepRequest } from './step-request.js'
import { gapIn, type TraceReport, unrecordedIn } from './trace-report.js'

const lists = ['steps', 'incidents', 'unrecorded', 'gaps'] as const

/** The lists as they were sent, each a list. */
type TraceLists = Readonly<Record<(typeof lists)[number], readonly unknown[]>> & {
  readonly agent_key: string
}

/** Who sends a request, and the time of its arrival in ms since 1970. */
export interface Sender {
  readonly agent_key: string
  readonly agent_id: string
  readonly idempotency_key: string | null
  readonly now: number
}

/**
 * The lists of a body: an object, a list of steps, or JSON lines with a step each. `agent_key` is in the object, else in the query.
 * Throws MALFORMED and INVALID.
 */
export function traceLists({ raw, header, query }: Pick<Call, 'raw' | 'header' | 'query'>): TraceLists {
  const sent = /^application\/x-ndjson\b/i.test(header('content-type') ?? '') ? readJsonLines(raw) : readReportJson(raw)
  const isList = Array.isArray(sent)
  if (isList && query.agent_key === undefined)
    throw invalid([{ path: 'agent_key', message: 'is missing: name the agent in the query, as `?agent_key=…`' }])
  const body: unknown = isList ? { steps: sent } : sent
  const { agent_key, ...request } = validated('trace-request', isMap(body) ? withLists(body, query.agent_key) : body)
  if (lists.every((name) => (request[name] ?? []).length === 0))
    throw invalid([{ path: 'steps', message: `send at least one item, here or in ${quoted(lists.slice(1))}` }])
  const { steps = [], incidents = [], unrecorded = [], gaps = [] } = request
  return { agent_key, steps, incidents, unrecorded, gaps }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ')
}

/** A single object counts as a list of one. */
function withLists(body: Readonly<Record<string, unknown>>, agent_key: string | undefined) {
  const singles = lists.filter((name) => isMap(body[name])).map((name) => [name, [body[name]]])
  const named = agent_key !== undefined && (body.agent_key ?? null) === null ? { agent_key } : {}
  return { ...body, ...named, ...Object.fromEntries(singles) } satisfies Partial<TraceRequest>
}

/** The items, in the order in which they are taken; a wrong one is the error that says why. */
interface TraceItems {
  readonly steps: readonly (StepRequest | PlatformError)[]
  readonly incidents: readonly Report[]
  readonly unrecorded: readonly (TraceReport | PlatformError)[]
  readonly gaps: readonly (TraceReport | PlatformError)[]
}

export async function traceItems(
  pace: Pace,
  { steps, incidents, unrecorded, gaps }: TraceLists,
  sender: Sender,
): Promise<TraceItems> {
  const repeated = new Map<string, number>()
  return {
    steps: await paced(pace, steps, (step) =>
      step instanceof PlatformError
        ? step
        : orProblem(() => ({ ...stepRequest(step, sender, repeated), traced: true })),
    ),
    incidents: incidents.map((one) => orProblem(() => incidentOf(one, sender.agent_key))),
    unrecorded: unrecorded.map((one) => orProblem(() => unrecordedIn(one, sender.agent_key))),
    gaps: gaps.map((one) => orProblem(() => gapIn(one))),
  }
}

/** The step of an item; `repeated` counts the equal ones of a request. */
function stepRequest(value: unknown, sender: Sender, repeated: Map<string, number>): StepRequest {
  const { step: kept, warnings } = withOutputObject(value)
  const { kind: _kind, recorded_at: _recorded_at, agent_id: name = '', ...sent } = validated('trace-step', kept)
  const { agent_key, agent_id, now } = sender
  const isOther = name !== '' && name !== agent_key && name !== agent_id
  const step = {
    ...sent,
    agent_id,
    task_id: String(sent.task_id),
    ...(isOther && { meta: { agent_id: name, ...sent.meta } }),
  }
  const noted = warnings.length === 0 ? {} : { warnings }
  const { step: number, timestamp, ...content } = step
  const numbered = number === undefined ? content : { ...content, step: Number(number) }
  if (timestamp !== undefined && number !== undefined) return { ...numbered, ...noted, timestamp }
  const known = { ...numbered, ...(timestamp !== undefined && { timestamp }) }
  const origins = originsOf(known, sender, repeated)
  return { ...numbered, ...noted, timestamp: timestamp ?? isoTime(now), ...origins }
}

/**
 * A step with a number or a time, but not both, is known again by its content, and equal ones of one request by their order. One
 * with neither could be another step that is equal: it is known again by the Idempotency-Key of its request.
 */
function originsOf(content: Partial<StepRequest>, { idempotency_key }: Sender, repeated: Map<string, number>) {
  const isBare = content.step === undefined && content.timestamp === undefined
  if (isBare && idempotency_key === null) return {}
  const text = canonical(content)
  const count = (repeated.get(text) ?? 0) + 1
  repeated.set(text, count)
  return { origins: [`trace ${isBare ? idempotency_key : ''} ${count} ${text}`] }
}

/** The report of an incident: of the agent of the request, however the engine names it. */
function incidentOf(value: unknown, agent_key: string) {
  return { ...reportIn(isMap(value) ? { ...value, agent_key } : value), agent_key }
}
