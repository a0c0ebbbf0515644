// The spans of a task as a tree: who called whom, and which agent acted.
import { type AgentName, agentNameOf, operationOf } from './operation.js'
import type { Span } from './span.js'

export interface SpanTree {
  /** By start, and a parent before its children. */
  readonly spans: readonly Span[]
  /** The last of its parents in the files. */
  readonly rootOf: (span: Span) => Span
  /** The invocation of a sub-agent in which the span happened; null for the agent of the task. */
  readonly subagentOf: (span: Span) => Subagent | null
  /** True for the invocation of the agent of the task. */
  readonly isMain: (span: Span) => boolean
  /** The sub-agent that started a sub-agent; null for the agent of the task. */
  readonly callerOf: (started: Span) => Subagent | null
  /** The call of the tool that started a sub-agent, else its invocation. */
  readonly spawnOf: (started: Span) => Span
}

export interface Subagent {
  readonly span: Span
  readonly id: string
  /** Number of its parent agents. */
  readonly depth: number
}

/**
 * The tree of the spans of a task; a parent that leads back to the span is ignored. `main` is the agent of the task. `ties`
 * decides between spans that began at the same time.
 */
export function treeOf(given: readonly Span[], main: AgentName, ties: (a: Span, b: Span) => number = byId): SpanTree {
  const known = new Map(given.map((span) => [keyOf(span.trace_id, span.span_id), span]))
  const depths = depthsIn(given, known)
  const depthOf = (span: Span) => depths.get(span) ?? 0
  const parentOf = (span: Span) => {
    const parent = span.parent_id === null ? undefined : known.get(keyOf(span.trace_id, span.parent_id))
    return parent !== undefined && depthOf(parent) < depthOf(span) ? parent : null
  }
  const spans = given.toSorted((a, b) => compare(a.start, b.start) || depthOf(a) - depthOf(b) || ties(a, b))
  const subagents = new Map<Span, Subagent | null>()
  const roots = new Map<Span, Span>()
  const acts = new Map<Span, Span | null>()
  // A parent has a smaller depth, so that its sub-agent is known.
  for (const span of given.toSorted((a, b) => depthOf(a) - depthOf(b))) {
    const parent = parentOf(span)
    roots.set(span, parent === null ? span : (roots.get(parent) ?? parent))
    acts.set(span, parent === null || operationOf(parent) !== null ? parent : (acts.get(parent) ?? null))
    const outer = parent === null ? null : (subagents.get(parent) ?? null)
    subagents.set(span, isAgent(span) ? startedIn(span, outer, main) : outer)
  }
  const subagentOf = (span: Span) => subagents.get(span) ?? null
  return {
    spans,
    rootOf: (span) => roots.get(span) ?? span,
    subagentOf,
    isMain: (span) => isAgent(span) && subagentOf(span) === null,
    callerOf: (started) => {
      const parent = parentOf(started)
      return parent === null ? null : subagentOf(parent)
    },
    spawnOf: (started) => {
      const act = acts.get(started) ?? null
      return act !== null && operationOf(act)?.kind === 'tool' ? act : started
    },
  }
}

/** The sub-agent that an invocation starts; null for the agent of the task. */
function startedIn(span: Span, outer: Subagent | null, main: AgentName): Subagent | null {
  const named = agentNameOf(span)
  if (isSameAgent(named, outer === null ? main : agentNameOf(outer.span))) return outer
  return { span, id: named.id ?? named.name ?? span.span_id, depth: (outer?.depth ?? 0) + 1 }
}

/** Libraries may write two spans for one invocation, at its caller and at the agent, and name the agent in part. */
function isSameAgent(one: AgentName, other: AgentName): boolean {
  if (one.id !== null && other.id !== null) return one.id === other.id
  return one.name === other.name
}

function isAgent(span: Span): boolean {
  return operationOf(span)?.kind === 'agent'
}

/** The number of parents of each span. A chain that comes back to itself is cut where it was entered. */
function depthsIn(spans: readonly Span[], known: ReadonlyMap<string, Span>): Map<Span, number> {
  const depths = new Map<Span, number>()
  for (const first of spans) {
    const chain = new Set<Span>()
    let span: Span | undefined = first
    while (span !== undefined && !depths.has(span) && !chain.has(span)) {
      chain.add(span)
      span = span.parent_id === null ? undefined : known.get(keyOf(span.trace_id, span.parent_id))
    }
    let depth = span === undefined ? 0 : (depths.get(span) ?? -1) + 1
    for (const each of [...chain].reverse()) depths.set(each, depth++)
  }
  return depths
}

function keyOf(trace_id: string, span_id: string): string {
  return trace_id + span_id
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function byId(a: Span, b: Span): number {
  return keyOf(a.trace_id, a.span_id) < keyOf(b.trace_id, b.span_id) ? -1 : 1
}
