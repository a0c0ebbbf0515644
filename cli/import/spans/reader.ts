// Spans of OTLP JSON: a task is a trace or a conversation, whose spans may be anywhere in the files.
import { isSameSpan, leanSpan, operationOf, type Span, stepsOfSpans } from '@svc/engine/parts'
import { createGroups } from '../reading/groups.js'
import type { ImportPlan } from '../reading/options.js'
import type { Fault, ImportReader, Recorded } from '../reading/reader.js'
import type { ImportedAgent } from '../target/target.js'
import { createSpanTasks } from './tasks.js'
import { createUnmapped } from './unmapped.js'
import { type PlacedSpan, spanValuesIn } from './values.js'

export function createSpanReader(plan: ImportPlan): ImportReader {
  const tasks = createSpanTasks(plan)
  /** Position of the last span of each trace. */
  const ends = new Map<string, number>()
  const groups = createGroups<PlacedSpan>()
  const unmapped = createUnmapped()
  const agents = new Map<string, ImportedAgent>()
  let surveyed = 0
  let read = 0

  const keep = (placed: PlacedSpan) => {
    const { span } = placed
    if (operationOf(span) === null) unmapped.add(span)
    const task = tasks.taskOf(span.trace_id)
    if (task !== null) groups.add(task.task_id, { ...placed, span: leanSpan(span) })
  }
  const convert = (task_id: string, placed: readonly PlacedSpan[]): (Recorded | Fault)[] => {
    const { spans, faults } = distinct(placed, unmapped.repeat)
    const task = tasks.taskOf(spans[0]?.trace_id ?? '')
    if (task === null) return faults
    const { agent_key, claim } = task
    const { declared_tools = [] } = agents.get(agent_key) ?? {}
    const settings = { task_id, agent_key, agent: claim.name, tools: plan.tools, declared_tools }
    return [...faults, { place: `task ${task_id}`, steps: stepsOfSpans(spans, settings) }]
  }

  return {
    survey: async function* (source) {
      for await (const { spans, faults } of spanValuesIn(source)) {
        let fresh = 0
        for (const { span } of spans) {
          ends.set(span.trace_id, surveyed)
          if (tasks.note(span)) fresh++
        }
        if (spans.length > 0) yield { runs: fresh }
        yield* faults
        surveyed++
      }
    },
    agents: () => {
      for (const agent of tasks.agents()) agents.set(agent.agent_key, agent)
      for (const [trace_id, position] of ends) {
        const task = tasks.taskOf(trace_id)
        if (task !== null) groups.note(task.task_id, position)
      }
      ends.clear()
      return [...agents.values()]
    },
    read: async function* (source) {
      for await (const { spans } of spanValuesIn(source)) {
        spans.forEach(keep)
        for (const [task_id, placed] of groups.complete(read)) yield* convert(task_id, placed)
        read++
      }
    },
    remarks: unmapped.remarks,
  }
}

/** The spans of a task, each once: an exporter may send a span again, but not change it. */
function distinct(placed: readonly PlacedSpan[], repeat: () => void): { spans: Span[]; faults: Fault[] } {
  const known = new Map<string, Span>()
  const faults: Fault[] = []
  for (const { span, at } of placed) {
    const key = span.trace_id + span.span_id
    const first = known.get(key)
    if (first === undefined) known.set(key, span)
    else if (isSameSpan(first, span)) repeat()
    else faults.push({ ...at, reason: `\`spanId\` is \`${span.span_id}\`, which another span of the trace has` })
  }
  return { spans: [...known.values()], faults }
}
