// The start and the end of a task of spans, and what is the same for all steps between them.
import { type Body, eachShallow } from '../step-body.js'
import type { Act } from './act.js'
import { contentNames } from './conventions.js'
import { errorView, evidenceOf } from './evidence.js'
import { inputOf } from './messages.js'
import { type AgentName, operationOf } from './operation.js'
import type { Span } from './span.js'
import type { SpanTree, Subagent } from './tree.js'

export interface Timed {
  /** ns since 1970. */
  readonly time: bigint
  readonly body: Body
}

export interface TaskAgent {
  readonly agent_key: string
  /** The agent as the spans name it. */
  readonly agent: AgentName
  /** Every tool of the agent in the files; null where the spans declare none. */
  readonly declared_tools: readonly string[] | null
}

/** True for spans of the local engine, which writes the start and the end of a task when they happen. */
export function framesItself({ spans }: SpanTree): boolean {
  const kinds = new Set(spans.map((span) => operationOf(span)?.kind))
  kinds.delete(undefined)
  return kinds.has('own') && kinds.size === 1
}

/** Stable: what happened at the same time stays in the order of the spans. */
export function byTime(acts: readonly Act[]): Act[] {
  return acts.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
}

export function stampOf(time: bigint): string {
  return new Date(Number(time / 1_000_000n)).toISOString()
}

/** The start has the agent, its instructions, and the resource that recorded the spans. */
export function startOf(
  tree: SpanTree,
  { agent_key, agent, declared_tools }: TaskAgent,
  [first]: readonly Act[],
): Timed {
  const acts = tree.spans.filter((span) => operationOf(span) !== null)
  const root = acts.find(tree.isMain) ?? acts[0]
  const instructions = acts
    .filter((span) => tree.subagentOf(span) === null)
    .flatMap(inputOf)
    .filter(({ role, content }) => (role === 'system' || role === 'developer') && content !== null)
    .map(({ content }) => content)
  const time = root?.start ?? 0n
  return {
    time: first !== undefined && first.time < time ? first.time : time,
    body: {
      step_type: 'task.start',
      ...(instructions.length > 0 && { input: { instructions: [...new Set(instructions)] } }),
      meta: {
        agent: {
          agent_key,
          ...(agent.name !== null && { name: agent.name }),
          ...(declared_tools !== null && { declared_tools }),
        },
        ...(root !== undefined && {
          otel: { ...evidenceOf(root, contentNames), resource: eachShallow(Object.fromEntries(root.resource)) },
        }),
      },
    },
  }
}

/** The end of a task whose roots have all ended, after an error if one of them failed. */
export function endOf(roots: readonly Span[], acts: readonly Act[]): Timed[] {
  const last = acts.at(-1)?.time ?? 0n
  const time = roots.reduce((latest, { end }) => (end !== null && end > latest ? end : latest), last)
  const failed = roots.findLast(({ error }) => error !== null)
  const error: Timed[] =
    failed?.error == null ? [] : [{ time, body: { step_type: 'task.error', output: errorView(failed.error) } }]
  return [...error, { time, body: { step_type: 'task.end' } }]
}

/** `numberOf` is the number of the step that started a sub-agent, where it is known. */
export function withSubagent(
  body: Body,
  subagent: Subagent | null,
  numberOf: (started: Span) => number | undefined,
): Body {
  if (subagent === null) return body
  const { id, depth, span } = subagent
  const spawn_step = numberOf(span)
  const named = { id, depth, ...(spawn_step !== undefined && { spawn_step }) }
  return { ...body, properties: { ...body.properties, svc: { subagent: named } } }
}
