// Spans as they arrive, some of a task at a time: steps with the ids by which the steps of later spans are recognised
// (docs/adr/0053-otlp.md).
import type { Behavior } from '@svc/schemas'
import { meaningsBy } from '../tools.js'
import { type Act, decidingOrigins, freshActs, type Origins } from './act.js'
import { actsOfSpans } from './acts-of-spans.js'
import { claimOf, streamKeyOf } from './agent.js'
import { operationOf } from './operation.js'
import type { Sliced } from './sliced.js'
import type { Span } from './span.js'
import {
  byTime,
  endOf,
  framesItself,
  stampOf,
  startOf,
  type TaskAgent,
  type Timed,
  withSubagent,
} from './task-frame.js'
import { type SpanTree, treeOf } from './tree.js'

export interface BatchTask extends Pick<TaskAgent, 'agent_key' | 'agent'> {
  /** A conversation has no end. */
  readonly is_conversation: boolean
}

/** A step without number, task and agent. */
export interface BatchStep {
  readonly step: Omit<Behavior, 'agent_id' | 'task_id' | 'step'> & { readonly timestamp: string }
  readonly origins: Origins
  readonly same_as?: string
  /** The span that shows the step. */
  readonly span: Span
  /** True if it ends the task: other spans should go before it. */
  readonly is_end: boolean
}

export interface SpanBatch {
  /** The origins that decide which of the steps are known. */
  readonly deciding: readonly string[]
  /** The other steps, in their order; `known` are those of the deciding origins that the task has. */
  readonly stepsAfter: (known: ReadonlySet<string>) => BatchStep[]
}

type Shown = Pick<Act, 'shown_by' | 'origins' | 'needs' | 'same_as'>
type Framed = Timed & Shown

/** The spans of a task that arrived together, in their order, each once. */
export function* batchOfSpans(given: readonly Span[], task: BatchTask): Sliced<SpanBatch> {
  // Exporters send spans in the order in which they ended, and some clocks count milliseconds.
  const tree = treeOf(given, task.agent, () => 0)
  const ended = endsIn(tree, task.agent_key)
  const whole = new Set(ended.map(({ trace_id }) => trace_id))
  const acts = yield* actsOfSpans(tree, meaningsBy({}), ({ trace_id }) => whole.has(trace_id))
  const has_frame = framesItself(tree)
  const start = has_frame ? [] : startIn(tree)
  const end = has_frame || task.is_conversation || ended.length === 0 ? [] : endIn(ended, acts)
  const all: Pick<Act, 'origins' | 'needs' | 'unless'>[] = [...start, ...acts, ...end]
  return {
    deciding: decidingOrigins(all),
    stepsAfter: (known) => {
      const fresh: ReadonlySet<unknown> = new Set(freshActs(all, known))
      const isFresh = (one: unknown) => fresh.has(one)
      // Numbers of steps are not known before they arrive.
      const placed = byTime(acts.filter(isFresh)).map((act) => ({
        ...act,
        body: withSubagent(act.body, act.subagent, () => undefined),
      }))
      return [
        ...start
          .filter(isFresh)
          .map((one) => stepOf({ ...one, ...startOf(tree, { ...task, declared_tools: null }, byTime(acts)) }, false)),
        ...placed.map((act) => stepOf(act, false)),
        ...end.filter(isFresh).map((act) => stepOf(act, true)),
      ]
    },
  }
}

function stepOf({ time, body, origins, same_as, shown_by }: Timed & Shown, is_end: boolean): BatchStep {
  const step = { timestamp: stampOf(time), ...body }
  return { step, origins, span: shown_by, is_end, ...(same_as !== undefined && { same_as }) }
}

/** Its content is read when it is new: it has the instructions of all spans. */
function startIn(tree: SpanTree): Shown[] {
  const shown_by = tree.spans.find((span) => operationOf(span) !== null)
  if (shown_by === undefined) return []
  return [{ origins: ['start'], shown_by }]
}

function endIn(ended: readonly Span[], acts: readonly Act[]): Framed[] {
  const [shown_by] = ended
  if (shown_by === undefined) return []
  return endOf(ended, byTime(acts)).map((step) => ({
    ...step,
    origins: [step.body.step_type === 'task.end' ? 'end' : 'error'],
    // The root of a trace without acts of an agent ends no task.
    needs: 'start',
    shown_by,
  }))
}

/**
 * The spans with which their traces have ended: those without a parent, and those that answer another program and in which
 * the agent of the task acted. The parent of any other span may still have to arrive.
 */
function endsIn(tree: SpanTree, agent_key: string): Span[] {
  const acting = new Set(tree.spans.filter((span) => operationOf(span) !== null).map(tree.rootOf))
  return tree.spans.filter((span) => {
    if (span.end === null) return false
    if (span.parent_id === null) return true
    return span.is_entry && acting.has(span) && streamKeyOf(claimOf(span)) === agent_key
  })
}
