// From the spans of a task to steps (docs/adr/0037-spans-as-steps.md). The same spans always give the same steps.
import type { Behavior } from '@svc/schemas'
import { type Body, eachShallow } from '../step-body.js'
import { meaningsBy, type ToolMap } from '../tools.js'
import { createBodies } from './bodies.js'
import { errorView, evidenceOf } from './evidence.js'
import { contentNames, inputOf } from './messages.js'
import { type AgentName, operationOf } from './operation.js'
import type { Span } from './span.js'
import type { TimedBody } from './timed-body.js'
import { type SpanTree, type Subagent, treeOf } from './tree.js'

export interface SpanTask {
  readonly task_id: string
  readonly agent_key: string
  /** The agent as the spans name it. */
  readonly agent: AgentName
  readonly tools: ToolMap
  /** Every tool of the agent in the files. */
  readonly declared_tools: readonly string[]
}

/** The spans of a task, in any order, as steps numbered from 1; at least one of them is an act of an agent. */
export function stepsOfSpans(given: readonly Span[], task: SpanTask): Behavior[] {
  const tree = treeOf(given, task.agent)
  const bodies = createBodies(tree, meaningsBy(task.tools))
  const acts = [...tree.spans.flatMap(bodies.of), ...bodies.rest()]
  // Stable: what happened at the same time stays in the order of the spans.
  const timed = acts.toSorted((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : 0))
  const has = (step_type: string) => timed.some(({ body }) => body.step_type === step_type)
  // The local engine writes the start and the end of a task when they happen.
  const isOwn = tree.spans.every((span) => ['own', undefined].includes(operationOf(span)?.kind))
  const start = isOwn || has('task.start') ? [] : [startOf(tree, task, timed)]
  const first = start.length + 1
  const numbers = new Map(timed.flatMap(({ span }, index) => (span === null ? [] : [[span, index + first] as const])))
  const steps = [
    ...start,
    ...timed.map(({ time, body, subagent }) => ({
      time,
      body: withSubagent(body, subagent, (started) => numbers.get(tree.spawnOf(started))),
    })),
    ...(isOwn || has('task.end') ? [] : endOf(tree, timed)),
  ]
  return steps.map(({ time, body }, index) => ({
    agent_id: task.agent_key,
    task_id: task.task_id,
    step: index + 1,
    timestamp: new Date(Number(time / 1_000_000n)).toISOString(),
    ...body,
  }))
}

interface Timed {
  readonly time: bigint
  readonly body: Body
}

/** The start has the agent, its instructions, and the resource that recorded the spans. */
function startOf(tree: SpanTree, { agent_key, agent, declared_tools }: SpanTask, [first]: readonly TimedBody[]): Timed {
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
        agent: { agent_key, ...(agent.name !== null && { name: agent.name }), declared_tools },
        ...(root !== undefined && {
          otel: { ...evidenceOf(root, contentNames), resource: eachShallow(Object.fromEntries(root.resource)) },
        }),
      },
    },
  }
}

/** A task has ended when everything that began it has: else its spans are a part of it. */
function endOf(tree: SpanTree, timed: readonly TimedBody[]): Timed[] {
  const roots = [...new Set(tree.spans.filter((span) => operationOf(span) !== null).map(tree.rootOf))]
  if (!roots.every(isWhole)) return []
  const last = timed.at(-1)?.time ?? 0n
  const time = roots.reduce((latest, { end }) => (end !== null && end > latest ? end : latest), last)
  const failed = roots.findLast(({ error }) => error !== null)
  const error: Timed[] =
    failed?.error == null ? [] : [{ time, body: { step_type: 'task.error', output: errorView(failed.error) } }]
  return [...error, { time, body: { step_type: 'task.end' } }]
}

/** A root whose parent is missing is whole only if it may have a parent elsewhere. */
function isWhole(root: Span): boolean {
  if (root.end === null) return false
  return root.parent_id === null || root.is_entry || operationOf(root)?.kind === 'agent'
}

function withSubagent(body: Body, subagent: Subagent | null, numberOf: (started: Span) => number | undefined): Body {
  if (subagent === null) return body
  const { id, depth, span } = subagent
  const spawn_step = numberOf(span)
  const named = { id, depth, ...(spawn_step !== undefined && { spawn_step }) }
  return { ...body, properties: { ...body.properties, svc: { subagent: named } } }
}
