// The tasks of spans, as the first reading finds them: which traces belong together, and which agent acts in them.
import {
  type AgentClaim,
  agentKeyOf,
  claimOf,
  conversationOf,
  operationOf,
  type Span,
  strongerClaim,
  taskIdOf,
  toolsOfSpan,
} from '@svc/engine/parts'
import type { ImportPlan } from '../reading/options.js'
import type { ImportedAgent } from '../target/target.js'

export interface SpanTasks {
  /** Takes a span of the first reading; true when it is the first act of an agent in its trace. */
  readonly note: (span: Span) => boolean
  /** The task of a trace; null for a trace without acts of an agent. */
  readonly taskOf: (trace_id: string) => KnownTask | null
  readonly agents: () => readonly ImportedAgent[]
}

export interface KnownTask {
  readonly task_id: string
  readonly agent_key: string
  readonly claim: AgentClaim
}

interface Trace {
  claim: AgentClaim
  conversation: string | null
  readonly tools: Set<string>
}

export function createSpanTasks({ given_key, agent_key: default_key, task_by }: ImportPlan): SpanTasks {
  const traces = new Map<string, Trace>()
  /** The strongest claim of each task of several traces. */
  const claims = new Map<string, AgentClaim>()
  const idOf = (trace_id: string, { conversation }: Trace) =>
    task_by === 'trace' || conversation === null ? trace_id : conversation
  const claimOn = (trace_id: string, trace: Trace) => claims.get(idOf(trace_id, trace)) ?? trace.claim
  const keyOf = (claim: AgentClaim) => given_key ?? agentKeyOf(claim) ?? default_key
  /** The first reading is over: the claims of a conversation are those of its traces. */
  const settle = () => {
    if (claims.size > 0) return
    for (const [trace_id, trace] of traces) {
      const id = idOf(trace_id, trace)
      const other = claims.get(id)
      claims.set(id, other === undefined ? trace.claim : strongerClaim(other, trace.claim))
    }
  }

  return {
    note: (span) => noteIn(traces, span),
    taskOf: (trace_id) => {
      const trace = traces.get(trace_id)
      if (trace === undefined) return null
      settle()
      const claim = claimOn(trace_id, trace)
      const agent_key = keyOf(claim)
      const id = idOf(trace_id, trace)
      // An id of another form cannot be that of a task.
      return { task_id: /^[ -~]{1,200}$/.test(id) ? id : taskIdOf(agent_key, id), agent_key, claim }
    },
    agents: () => {
      settle()
      const agents = new Map<string, { readonly name: string; readonly tools: Set<string> }>()
      for (const [trace_id, trace] of traces) {
        const claim = claimOn(trace_id, trace)
        const key = keyOf(claim)
        const agent = agents.get(key) ?? { name: claim.name.name ?? key, tools: new Set<string>() }
        agents.set(key, agent)
        for (const name of trace.tools) agent.tools.add(name)
      }
      return [...agents]
        .map(([agent_key, { name, tools }]) => ({
          agent_key,
          name,
          declared_tools: [...tools].sort(),
          keeps_registration: false,
        }))
        .sort((a, b) => (a.agent_key < b.agent_key ? -1 : 1))
    },
  }
}

/** Adds what a span shows about its trace; true for the first act of an agent in it. */
function noteIn(traces: Map<string, Trace>, span: Span): boolean {
  if (operationOf(span) === null) return false
  const claim = claimOf(span)
  const known = traces.get(span.trace_id)
  const trace = known ?? { claim, conversation: null, tools: new Set<string>() }
  if (known === undefined) traces.set(span.trace_id, trace)
  trace.claim = strongerClaim(trace.claim, claim)
  trace.conversation ??= conversationOf(span)
  for (const name of toolsOfSpan(span)) trace.tools.add(name)
  return known === undefined
}
