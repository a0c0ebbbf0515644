// One task of a trace.
import {
  type EvaluationRow,
  type RunState,
  readLines,
  readTraceLine,
  startsRun,
  stateAfter,
  type TraceLineReading,
} from '@svc/engine'
import { fileError } from '@svc/proof/verify'
import type { JsonMap, Step } from '@svc/schemas'
import { InputError } from '../errors.js'

export interface RecordedTask {
  readonly task_id: string
  /** Number of the run of the task id, from 1, and how many runs the trace has: an id used again after its end is a new task. */
  readonly run: number
  readonly runs: number
  /** The steps of that run, in the order of the trace. */
  readonly steps: readonly Step[]
}

interface Runs {
  state: RunState
  readonly runs: Step[][]
}

/** Task ids in a message. */
const maxNames = 5

/** The steps of one run of the task, or of the only task; by default the last run. Rejects with InputError, naming the line. */
export async function recordedTask(path: string, wanted: string | undefined, run?: number): Promise<RecordedTask> {
  const tasks = new Map<string, Runs>()
  const other = new Set<string>()
  for await (const { line } of traceLines(path)) {
    const found = stepOrEnd(line)
    if (found === null) continue
    if (wanted === undefined || found.task_id === wanted) addTo(tasks, found)
    else if (found.task_id !== undefined && other.size <= maxNames) other.add(found.task_id)
  }
  const [only, ...others] = tasks
  if (only === undefined) {
    const of = wanted === undefined ? '' : ` of task \`${wanted}\``
    throw new InputError(`\`${path}\` has no steps${of}${other.size > 0 ? `, only of ${listed([...other])}` : ''}`)
  }
  if (others.length > 0)
    throw new InputError(
      `\`${path}\` has ${tasks.size} tasks: choose one with \`--task\` (${listed([...tasks.keys()])})`,
    )
  const [task_id, { runs }] = only
  const number = run ?? runs.length
  const steps = runs[number - 1]
  if (steps === undefined)
    throw new InputError(`task \`${task_id}\` has no run ${number}: \`${path}\` has ${runs.length} of it`)
  return { task_id, run: number, runs: runs.length, steps }
}

export interface RecordedEvaluation extends RecordedTask {
  readonly evaluation_id: string
  /** The evaluated step; `steps` are those before it. */
  readonly intended: Step
  /** The agent as the policies saw it. */
  readonly agent: JsonMap
}

/** An evaluation in which the local engine blocked the step or asked, with the steps before it. Rejects with InputError. */
export async function recordedEvaluation(path: string, evaluation_id: string): Promise<RecordedEvaluation> {
  const tasks = new Map<string, Runs>()
  for await (const { line } of traceLines(path)) {
    if (line.kind === 'evaluation' && line.row.evaluation_id === evaluation_id) return evaluationIn(tasks, line.row)
    const found = stepOrEnd(line)
    if (found !== null) addTo(tasks, found)
  }
  throw new InputError(`\`${path}\` has no evaluation that blocked or asked with the id \`${evaluation_id}\``)
}

/** The lines of a trace that are not empty. Rejects with InputError, naming the file or the line. */
async function* traceLines(path: string): AsyncGenerator<{ readonly line: TraceLineReading }> {
  try {
    for await (const found of readLines(path)) {
      const where = `${path}:${found.line + 1}`
      if (found.problem !== null) throw new InputError(`${where}: ${found.problem}`)
      if (found.text.trim() === '') continue
      const line = readTraceLine(found.text)
      if (line.kind === 'problem') throw new InputError(`${where}: ${line.problem}`)
      yield { line }
    }
  } catch (error) {
    throw fileError(path, error)
  }
}

function evaluationIn(tasks: ReadonlyMap<string, Runs>, row: EvaluationRow): RecordedEvaluation {
  const { evaluation_id, task_id, intended, agent } = row
  const { state, runs } = tasks.get(task_id) ?? { state: 'none', runs: [] }
  const is_first = startsRun(state, intended.step_type)
  const run = runs.length + (is_first ? 1 : 0)
  const steps = is_first ? [] : (runs.at(-1) ?? [])
  return { task_id, run, runs: run, steps, evaluation_id, intended, agent: agent ?? {} }
}

function addTo(tasks: Map<string, Runs>, { task_id = '', step }: StepOrEnd): void {
  const task = tasks.get(task_id)
  if (step === null) {
    if (task !== undefined) task.state = 'none'
    return
  }
  const { state, runs } = task ?? { state: 'none', runs: [] }
  if (startsRun(state, step.step_type)) runs.push([])
  runs.at(-1)?.push(step)
  tasks.set(task_id, { state: stateAfter(state, step.step_type), runs })
}

/** A step, or the end of a task through /end_task, for which `step` is null. */
interface StepOrEnd {
  readonly task_id?: string | undefined
  readonly step: Step | null
}

/** Null for other lines of the trace of the local engine. */
function stepOrEnd(line: TraceLineReading): StepOrEnd | null {
  if (line.kind === 'end') return { task_id: line.task_id, step: null }
  return line.kind === 'step' ? { task_id: line.step.task_id, step: line.step } : null
}

function listed(task_ids: readonly string[]): string {
  const names = task_ids.slice(0, maxNames).map((name) => `\`${name}\``)
  return `${names.join(', ')}${task_ids.length > maxNames ? ', …' : ''}`
}
