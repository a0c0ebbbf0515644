// The trace of `svc serve`: its steps, which keep their numbers, times and tasks.
import {
  agentOfStart,
  createStepCheck,
  type RunState,
  readLines,
  readTraceLine,
  startsRun,
  stateAfter,
  type TraceLineReading,
  taskIdOf,
  toolOfStep,
  toolsDeclaredBy,
} from '@svc/engine'
import { type Behavior, canonicalType, type Step } from '@svc/schemas'
import { createGroups } from './groups.js'
import type { ImportPlan } from './options.js'
import type { Fault, ImportReader } from './reader.js'
import type { Source } from './source.js'
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
  const [surveyed, read] = [createRunIds(), createRunIds()]
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
        const run = surveyed.of(found)
        if (found.kind !== 'step' || run === null) {
          yield { runs: 0 }
          continue
        }
        groups.note(run.key, survey_position)
        agents.note(run.key, found.step)
        yield { runs: run.is_new ? 1 : 0 }
      }
    },
    agents: agents.all,
    read: async function* (source) {
      for await (const { found } of linesIn(source, check)) {
        read_position++
        if ('reason' in found) continue
        const run = read.of(found)
        if (found.kind !== 'step' || run === null) continue
        groups.add(run.key, found.step)
        for (const [key, steps] of groups.complete(read_position)) {
          const task_id = surveyed.taskIdOf(key)
          const agent_id = agents.of(key)
          yield {
            place: `task ${task_id}`,
            steps: steps.map((step) => ({ ...surveyed.numbered(key, step), agent_id, task_id }) as Behavior),
          }
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
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

interface RunOfStep {
  /** Names the run of the task id. */
  readonly key: string
  readonly is_new: boolean
}

/** Tells the runs of a task id apart: an id that is used again after its end is a new task. */
function createRunIds() {
  const tasks = new Map<string, { state: RunState; run: number; last_step: number }>()
  /** The last number of the runs before, for a run that is numbered on. */
  const numbered_from = new Map<string, number>()
  return {
    /** The run of a step; null for another line. */
    of: (found: TraceLineReading): RunOfStep | null => {
      if (found.kind === 'end') {
        const task = tasks.get(found.task_id ?? '')
        if (task !== undefined) task.state = 'none'
      }
      if (found.kind !== 'step') return null
      const { task_id = '', step_type, step = 0 } = found.step
      const task = tasks.get(task_id) ?? { state: 'none', run: 0, last_step: 0 }
      tasks.set(task_id, task)
      const is_new = startsRun(task.state, step_type)
      if (is_new) task.run++
      const key = `${task.run} ${task_id}`
      if (is_new && step > task.last_step) numbered_from.set(key, task.last_step)
      task.state = stateAfter(task.state, step_type)
      task.last_step = Math.max(task.last_step, step)
      return { key, is_new }
    },
    /** A run becomes a task of its own, whose first step is number 1. */
    numbered: (key: string, step: Step): Step =>
      step.step === undefined ? step : { ...step, step: step.step - (numbered_from.get(key) ?? 0) },
    /** The first run keeps the id of its task; another one gets an id that no task has. */
    taskIdOf: (key: string): string => {
      const [run = ''] = key.split(' ', 1)
      const task_id = key.slice(run.length + 1)
      if (run === '1') return task_id
      const named = `${task_id} (run ${run})`
      return named.length <= 200 && !tasks.has(named) ? named : taskIdOf(task_id, `run ${run}`)
    },
  }
}

/** The agents of the runs: that of the option, else that of the start of the task, else that of its first step. */
function createAgents({ given_key, agent_key: default_key }: ImportPlan) {
  const keys = new Map<string, string>()
  const agents = new Map<string, { name: string; readonly declared: Set<string>; readonly used: Set<string> }>()
  return {
    note: (run: string, step: Step): void => {
      const start = canonicalType(step.step_type) === 'task.start' ? agentOfStart(step) : null
      const key = keys.get(run) ?? given_key ?? keyIn(start?.agent_key) ?? step.agent_id ?? default_key
      keys.set(run, key)
      const agent = agents.get(key) ?? { name: key, declared: new Set<string>(), used: new Set<string>() }
      agents.set(key, agent)
      if (typeof start?.name === 'string' && start.name !== '') agent.name = start.name
      for (const name of toolsDeclaredBy(step) ?? []) agent.declared.add(name)
      const used = toolOfStep(step)
      if (used !== null) agent.used.add(used)
    },
    of: (run: string): string => keys.get(run) ?? default_key,
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
