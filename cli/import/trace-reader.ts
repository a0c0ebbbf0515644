// The trace of `svc serve`: its steps, which keep their numbers, times and tasks.
import { readTraceLine } from '@svc/engine'
import {
  agentOfStart,
  createStepCheck,
  readLines,
  type TraceLineReading,
  toolOfStep,
  toolsDeclaredBy,
} from '@svc/engine/parts'
import { parseJson } from '@svc/proof'
import { type Behavior, canonicalType, type Step } from '@svc/schemas'
import { createGroups } from './reading/groups.js'
import type { ImportPlan } from './reading/options.js'
import type { Fault, ImportReader } from './reading/reader.js'
import type { Source } from './reading/source.js'
import { createLineCounts } from './trace-counts.js'

/** A line with its position among the lines of all files. */
interface Placed {
  readonly found: Exclude<TraceLineReading, { kind: 'problem' }> | Fault
}

export function createTraceReader(plan: ImportPlan): ImportReader {
  const check = createStepCheck()
  const counts = createLineCounts()
  const groups = createGroups<Step>()
  const agents = createAgents(plan)
  const surveyed = new Set<string>()
  let survey_position = 0
  let read_position = 0

  return {
    survey: async function* (source) {
      for await (const { found } of linesIn(source, check)) {
        survey_position++
        if ('reason' in found) {
          yield found
          continue
        }
        counts.add(found)
        const step = stepIn(found)
        if (step === null) {
          yield { runs: 0 }
          continue
        }
        const { task_id = '' } = step
        groups.note(task_id, survey_position)
        agents.note(task_id, step)
        yield { runs: surveyed.has(task_id) ? 0 : 1 }
        surveyed.add(task_id)
      }
    },
    agents: agents.all,
    read: async function* (source) {
      for await (const { found } of linesIn(source, check)) {
        read_position++
        if ('reason' in found) continue
        const step = stepIn(found)
        if (step === null) continue
        groups.add(step.task_id ?? '', step)
        for (const [task_id, steps] of groups.complete(read_position)) {
          const agent_id = agents.of(task_id)
          yield { place: `task ${task_id}`, steps: steps.map((one) => ({ ...one, agent_id, task_id }) as Behavior) }
        }
      }
    },
    remarks: counts.remarks,
  }
}

async function* linesIn(source: Source, check: (step: Step) => string | null): AsyncGenerator<Placed> {
  for await (const line of readLines(source.path)) {
    const fault = { file: source.name, line: line.line, entry: null, unit: 'run' as const }
    if (line.problem !== null) yield { found: { ...fault, reason: line.problem } }
    else if (line.text.trim() !== '') yield { found: readLine(line.text, fault, check) }
  }
}

function readLine(text: string, fault: Omit<Fault, 'reason'>, check: (step: Step) => string | null): Placed['found'] {
  const found = readTraceLine(text)
  if (found.kind === 'problem') {
    const value = valueOrNothing(text)
    return { ...fault, reason: found.problem, ...(value !== undefined && { value }) }
  }
  const problem = found.kind === 'step' ? check(found.step) : null
  return problem === null ? found : { ...fault, reason: problem }
}

/** The value of a line of another kind, which may show its format. */
function valueOrNothing(text: string): unknown {
  try {
    return parseJson(text) as unknown
  } catch {
    return undefined
  }
}

/** The step of a line, that of an end through /end_task included; null for other lines. */
function stepIn(found: TraceLineReading): Step | null {
  if (found.kind === 'end') return found.step.step === undefined ? null : found.step
  return found.kind === 'step' ? found.step : null
}

/** The agents of the tasks: that of the option, else that of the start of the task, else that of its first step. */
function createAgents({ given_key, agent_key: default_key }: ImportPlan) {
  const keys = new Map<string, string>()
  const agents = new Map<string, { name: string; readonly declared: Set<string>; readonly used: Set<string> }>()
  return {
    note: (task_id: string, step: Step): void => {
      const start = canonicalType(step.step_type) === 'task.start' ? agentOfStart(step) : null
      const key = keys.get(task_id) ?? given_key ?? keyIn(start?.agent_key) ?? step.agent_id ?? default_key
      keys.set(task_id, key)
      const agent = agents.get(key) ?? { name: key, declared: new Set<string>(), used: new Set<string>() }
      agents.set(key, agent)
      if (typeof start?.name === 'string' && start.name !== '') agent.name = start.name
      for (const name of toolsDeclaredBy(step) ?? []) agent.declared.add(name)
      const used = toolOfStep(step)
      if (used !== null) agent.used.add(used)
    },
    of: (task_id: string): string => keys.get(task_id) ?? default_key,
    all: () =>
      [...agents].map(([agent_key, { name, declared, used }]) => ({
        agent_key,
        name,
        declared_tools: [...(declared.size > 0 ? declared : used)].sort(),
        keeps_registration: true,
      })),
  }
}

function keyIn(value: unknown): string | undefined {
  return typeof value === 'string' && /^[ -~]{1,200}$/.test(value) ? value : undefined
}
