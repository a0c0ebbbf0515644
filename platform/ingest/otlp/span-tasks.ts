// The tasks that the traces of a request belong to, with what is known of them (docs/adr/0053-otlp.md).
import { createHash } from 'node:crypto'
import {
  type AgentClaim,
  type BatchStep,
  batchOfSpans,
  claimOf,
  contentOf,
  operationOf,
  type Span,
  spanOrigin,
  streamKeyOf,
  strongerClaim,
  taskIdOf,
} from '@svc/engine/parts'
import { findAgents } from '../../agents/store/agents.js'
import { type Resources, withTransaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import type { KeyIdentity } from '../../http/principal.js'
import { readHeads } from '../../ledger/log.js'
import type { Sealer } from '../../secrets/seal.js'
import { knownOrigins } from '../origins.js'
import { inSlices, type Pace, paced } from '../pace.js'
import { noteTraces, tasksOfTraces } from '../store/trace-tasks.js'
import type { Trace } from './traces.js'

export interface SpanTask {
  readonly task_id: string
  readonly agent_key: string
  /** The name of a new agent. */
  readonly agent_name: string | null
  /** False for a task without entries: its agent may have to be registered. */
  readonly is_known: boolean
  readonly spans: readonly Span[]
  /** The steps that the task does not have yet. */
  readonly steps: readonly BatchStep[]
  /** Spans with the ids of earlier ones, but with other content. */
  readonly changed: readonly Span[]
}

export interface TaskParts extends Resources {
  readonly sealer: Sealer
  readonly pace: Pace
}

interface Placed {
  readonly task_id: string
  readonly is_conversation: boolean
  readonly spans: Span[]
}

/** The tasks of the traces in which an agent acted, here or in an earlier request. */
export async function spanTasks(
  { db, clock, sealer, pace }: TaskParts,
  scope: Scope,
  key: KeyIdentity,
  traces: readonly Trace[],
): Promise<SpanTask[]> {
  // Two requests of a trace that arrive together must find one task, so that this is committed before the steps.
  const settled = await withTransaction(db, scope, async (tx) => {
    const acting = traces.filter(({ has_acts }) => has_acts).map((trace) => ({ ...trace, task_id: taskOf(trace, key) }))
    const noted = acting.map(({ trace_id, task_id }) => ({ trace_id, task_id }))
    await noteTraces(scope, tx, clock(), key.key_id, noted)
    return tasksOfTraces(
      scope,
      tx,
      key.key_id,
      traces.map(({ trace_id }) => trace_id),
    )
  })
  const placed = placedIn(traces, settled)
  if (placed.length === 0) return []
  return withTransaction(db, scope, async (tx) => {
    const task_ids = placed.map(({ task_id }) => task_id)
    const heads = await readHeads(scope, tx, task_ids)
    const agent_ids = [...heads.values()].map(({ agent_id }) => agent_id)
    const agents = new Map((await findAgents(scope, tx, agent_ids)).map((agent) => [agent.agent_id, agent]))
    const tasks: SpanTask[] = []
    for (const { task_id, is_conversation, spans } of placed) {
      const agent = agents.get(heads.get(task_id)?.agent_id ?? '')
      const claim = strongestOf(spans)
      const agent_key = agent?.agent_key ?? streamKeyOf(claim)
      const batch = await inSlices(pace, batchOfSpans(spans, { agent_key, agent: claim.name, is_conversation }))
      const contents = await paced(pace, spans, contentOrigin)
      const is_own = agent?.api_key_id === key.key_id
      const wanted = [...batch.deciding, ...contents]
      const known = new Set(is_own ? await knownOrigins({ sealer, pace }, scope, tx, task_id, wanted) : [])
      const is_known = heads.has(task_id)
      // An erasure deletes ids, also that of the start.
      if (is_known) known.add('start')
      const changed = spans.filter((span, index) => known.has(spanOrigin(span)) && !known.has(contents[index] ?? ''))
      const steps = batch.stepsAfter(known)
      tasks.push({ task_id, agent_key, agent_name: claim.name.name, is_known, spans, steps, changed })
    }
    return tasks
  })
}

/** By which a span is known again that was sent before as it is. */
export function contentOrigin(span: Span): string {
  return `content:${span.span_id}:${createHash('sha256').update(contentOf(span)).digest('base64')}`
}

/** The task of a trace that is new. */
function taskOf({ trace_id, conversation }: Trace, { key_id }: KeyIdentity): string {
  if (conversation === null) return trace_id
  // An id of another form cannot be that of a task.
  return /^[ -~]{1,200}$/.test(conversation) ? conversation : taskIdOf(key_id, conversation)
}

function placedIn(traces: readonly Trace[], settled: ReadonlyMap<string, string>): Placed[] {
  const tasks = new Map<string, Placed>()
  for (const { trace_id, spans } of traces) {
    const task_id = settled.get(trace_id)
    if (task_id === undefined) continue
    const task = tasks.get(task_id) ?? { task_id, is_conversation: task_id !== trace_id, spans: [] }
    tasks.set(task_id, task)
    for (const span of spans) task.spans.push(span)
  }
  return [...tasks.values()]
}

function strongestOf(spans: readonly Span[]): AgentClaim {
  const acts = spans.filter((span) => operationOf(span) !== null)
  return (acts.length > 0 ? acts : spans).map(claimOf).reduce(strongerClaim)
}
