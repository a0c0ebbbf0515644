// One task of a trace.
import { readTraceLine } from '@svc/engine'
import { type EvaluationRow, readLines, type TraceLineReading } from '@svc/engine/parts'
import { fileError } from '@svc/proof/verify'
import type { JsonMap, Step } from '@svc/schemas'
import { InputError } from '../errors.js'

export interface RecordedTask {
  readonly task_id: string
  /** In the order of the trace, the end through /end_task included. */
  readonly steps: readonly Step[]
}

/** Task ids in a message. */
const maxNames = 5

/** The steps of the task, or of the only task. Rejects with InputError, naming the line. */
export async function recordedTask(path: string, wanted: string | undefined): Promise<RecordedTask> {
  const tasks = new Map<string, Step[]>()
  const other = new Set<string>()
  for await (const { line } of traceLines(path)) {
    const found = stepIn(line)
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
  const [task_id, steps] = only
  return { task_id, steps }
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
  const tasks = new Map<string, Step[]>()
  for await (const { line } of traceLines(path)) {
    if (line.kind === 'evaluation' && line.row.evaluation_id === evaluation_id) return evaluationIn(tasks, line.row)
    const found = stepIn(line)
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

function evaluationIn(tasks: ReadonlyMap<string, readonly Step[]>, row: EvaluationRow): RecordedEvaluation {
  const { evaluation_id, task_id, intended, agent } = row
  return { task_id, steps: tasks.get(task_id) ?? [], evaluation_id, intended, agent: agent ?? {} }
}

function addTo(tasks: Map<string, Step[]>, step: Step): void {
  const { task_id = '' } = step
  const known = tasks.get(task_id)
  if (known === undefined) tasks.set(task_id, [step])
  else known.push(step)
}

/** Null for other lines of the trace of the local engine, such as an end that adds no step. */
function stepIn(line: TraceLineReading): Step | null {
  if (line.kind === 'end') return line.step.step === undefined ? null : line.step
  return line.kind === 'step' ? line.step : null
}

function listed(task_ids: readonly string[]): string {
  const names = task_ids.slice(0, maxNames).map((name) => `\`${name}\``)
  return `${names.join(', ')}${task_ids.length > maxNames ? ', …' : ''}`
}
