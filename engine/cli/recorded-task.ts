// One task out of a trace.
import { isDeeperThan, maxRequestDepth } from '../log/depth.js'
import { parseStoredJson } from '../log/strict-json.js'
import type { Step } from '../steps.js'
import { readLines } from '../trace/read-lines.js'

/** What was given cannot be used; the message says why and what would do. */
export class CannotUse extends Error {}

export interface RecordedTask {
  readonly task_id: string
  /** In the order of the trace. */
  readonly steps: readonly Step[]
}

/** Names listed when somebody has to choose. */
const namesListed = 5

/** The task's steps, or those of the only task there is. Throws CannotUse, naming the line that is wrong. */
export async function recordedTask(path: string, wanted: string | undefined): Promise<RecordedTask> {
  const tasks = new Map<string, Step[]>()
  for await (const line of readLines(path)) {
    const where = `${path}:${line.line + 1}`
    if (line.problem !== null) throw new CannotUse(`${where}: ${line.problem}`)
    if (line.text.trim() === '') continue
    const step = stepIn(line.text, where)
    if (step === null || (wanted !== undefined && step.task_id !== wanted)) continue
    const task_id = step.task_id ?? ''
    const steps = tasks.get(task_id) ?? []
    steps.push(step)
    tasks.set(task_id, steps)
  }
  const [only, ...others] = tasks
  if (only === undefined)
    throw new CannotUse(`\`${path}\` holds no steps${wanted === undefined ? '' : ` of task \`${wanted}\``}`)
  if (others.length > 0)
    throw new CannotUse(`${path} holds ${tasks.size} tasks: choose one with --task (${listed(tasks)})`)
  return { task_id: only[0], steps: only[1] }
}

/** Null for a line of the engine's trace that is about something else. */
function stepIn(text: string, where: string): Step | null {
  const reading = parseStoredJson(text)
  if (reading.problem !== null) throw new CannotUse(`${where}: ${reading.problem.message}`)
  const { kind, recorded_at: _at, ...step } = (reading.value ?? {}) as Step & { kind?: unknown; recorded_at?: unknown }
  if (kind !== undefined && kind !== 'step') return null
  if (typeof step.step_type !== 'string') throw new CannotUse(`${where}: a step needs a \`step_type\``)
  // Only an incident may be deeper, because it quotes the parameters of its policy.
  if (isDeeperThan(step, maxRequestDepth))
    throw new CannotUse(`${where}: a step is nested deeper than ${maxRequestDepth} levels`)
  return step
}

function listed(tasks: ReadonlyMap<string, unknown>): string {
  const names = [...tasks.keys()].slice(0, namesListed).map((name) => `\`${name}\``)
  return `${names.join(', ')}${tasks.size > namesListed ? ', …' : ''}`
}
