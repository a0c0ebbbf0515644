// From the spans of a task to steps (docs/design/engine.md §10). The same spans always give the same steps.
import type { Behavior } from '@svc/schemas'
import { meaningsBy, type ToolMap } from '../tools.js'
import { type Act, freshActs } from './act.js'
import { actsOfSpans } from './acts-of-spans.js'
import { operationOf } from './operation.js'
import { wholeOf } from './sliced.js'
import type { Span } from './span.js'
import { byTime, endOf, framesItself, stampOf, startOf, type TaskAgent, withSubagent } from './task-frame.js'
import { type SpanTree, treeOf } from './tree.js'

export interface SpanTask extends TaskAgent {
  readonly task_id: string
  readonly tools: ToolMap
}

/** The spans of a task, in any order, as steps numbered from 1; at least one of them is an act of an agent. */
export function stepsOfSpans(given: readonly Span[], task: SpanTask): Behavior[] {
  const tree = treeOf(given, task.agent)
  const acts = byTime(freshActs(wholeOf(actsOfSpans(tree, meaningsBy(task.tools), () => true)), new Set()))
  const start = framesItself(tree) || has(acts, 'task.start') ? [] : [startOf(tree, task, acts)]
  const first = start.length + 1
  const numbers = new Map(acts.flatMap(({ span }, index) => (span === null ? [] : [[span, index + first] as const])))
  const steps = [
    ...start,
    ...acts.map(({ time, body, subagent }) => ({
      time,
      body: withSubagent(body, subagent, (started) => numbers.get(tree.spawnOf(started))),
    })),
    ...(framesItself(tree) || has(acts, 'task.end') ? [] : endIn(tree, acts)),
  ]
  return steps.map(({ time, body }, index) => ({
    agent_id: task.agent_key,
    task_id: task.task_id,
    step: index + 1,
    timestamp: stampOf(time),
    ...body,
  }))
}

function has(acts: readonly Act[], step_type: string): boolean {
  return acts.some(({ body }) => body.step_type === step_type)
}

/** A task has ended when everything that began it has: else its spans are a part of it. */
function endIn(tree: SpanTree, acts: readonly Act[]) {
  const roots = [...new Set(tree.spans.filter((span) => operationOf(span) !== null).map(tree.rootOf))]
  return roots.every(isWhole) ? endOf(roots, acts) : []
}

/** A root whose parent is missing is whole only if it may have a parent elsewhere. */
function isWhole(root: Span): boolean {
  if (root.end === null) return false
  return root.parent_id === null || root.is_entry || operationOf(root)?.kind === 'agent'
}
