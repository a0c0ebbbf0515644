// The tasks of this machine, each indexed for the policies in effect: in memory, or read back from the trace.
import type { PastSteps } from '../../task/past-steps.js'
import { TaskTable } from '../../task/table.js'
import { reservationMs } from '../../task/waiting.js'
import type { LastSteps } from '../../trace/memory/last-steps.js'
import type { Recall } from '../../trace/recall/recall.js'
import { recalledVersions } from './recalled-versions.js'
import { LocalTask } from './task.js'
import type { AppliedPolicies, TaskPolicies } from './task-policies.js'

export interface Tasks {
  /**
   * The task of this id, which has one history whatever ended it. `now` is in ms, on a clock that never jumps. A task that
   * this process evicted, or that ran before it started, is read back from the trace; without its lines there it is lost.
   */
  readonly open: (task_id: string, now: number) => LocalTask | Promise<LocalTask>
  /** Reads the task back when it is not in memory; null for an unknown one. `is_open`: it was not closed before. */
  readonly load: (
    task_id: string,
    now: number,
  ) => Promise<{ readonly task: LocalTask | null; readonly is_open: boolean }>
  /** An ended task is evicted before tasks that run. */
  readonly close: (task: LocalTask) => void
  /** Counts the words of a task whose history has changed, and remembers its last step. */
  readonly weigh: (task: LocalTask) => void
  /** Tasks in memory that were not closed. */
  readonly count: () => number
}

export interface TasksParts {
  readonly policies: TaskPolicies
  readonly recall: Recall | null
  /** A remembered task that continues is not mistaken for a new one. */
  readonly last_steps: LastSteps
  readonly maxTasks: number
  readonly maxIdleMs: number
  readonly maxWords: number
}

interface State extends Pick<TasksParts, 'policies' | 'recall' | 'last_steps'> {
  readonly table: TaskTable<LocalTask>
  /** Tasks that are being read back; concurrent requests wait for the same promise. */
  readonly opening: Map<string, Promise<LocalTask>>
}

export function createTasks({ policies, recall, last_steps, ...bounds }: TasksParts): Tasks {
  const noteLast = (task_id: string, { last_step }: LocalTask) => last_steps.note(task_id, last_step)
  const table = new TaskTable<LocalTask>({ ...bounds, minIdleMs: reservationMs }, noteLast)
  const state: State = { policies, recall, last_steps, table, opening: new Map() }
  return {
    open: (task_id, now) => open(state, task_id, now),
    load: async (task_id, now) => {
      const is_open = table.isRunning(task_id)
      const is_known = table.get(task_id) !== undefined || (await recall?.holds(task_id)) === true
      const task = is_known ? await find(state, task_id, now) : null
      return { task, is_open: is_open || task?.finished === false }
    },
    close: (task) => {
      noteLast(task.task_id, task)
      table.end(task.task_id)
    },
    weigh: (task) => weigh(state, task),
    count: () => table.running,
  }
}

function open(state: State, task_id: string, now: number): LocalTask | Promise<LocalTask> {
  const task = find(state, task_id, now)
  if (!(task instanceof Promise)) return task
  // While this request waited, the task may have been evicted, and the policies may have changed again.
  return task.then((found) => {
    const is_current = state.table.get(task_id) === found && state.policies.after(found.policies) === found.policies
    return is_current ? found : open(state, task_id, now)
  })
}

function find(state: State, task_id: string, now: number): LocalTask | Promise<LocalTask> {
  const task = state.table.get(task_id)
  if (task === undefined) return state.opening.get(task_id) ?? findUnknown(state, task_id, now)
  const applied = state.policies.after(task.policies)
  if (applied !== task.policies) return reindex(state, task, applied, now)
  state.table.keep(task_id, task, now)
  return task
}

function findUnknown(state: State, task_id: string, now: number): LocalTask | Promise<LocalTask> {
  const held = state.recall?.holds(task_id) ?? false
  const last_step = state.last_steps.of(task_id)
  const isUnknown = (is_held: boolean) => !is_held && last_step === undefined
  // Not weighed: a task without a recorded step is not remembered.
  const beginHere = () => {
    const task = new LocalTask(task_id, state.policies.atBegin())
    state.table.keep(task_id, task, now)
    return task
  }
  if (held === false && isUnknown(held)) return beginHere()
  return (async () => {
    if (isUnknown(await held)) return state.table.get(task_id) ?? beginHere()
    // Steps that the trace lacks of a task that ran before may be in the log of the platform.
    return readBack(state, task_id, (found) => keep(state, resumed(state, task_id, found), now))
  })()
}

/** A task that this process does not know, from its trace: it keeps the versions of manifests that it had. */
function resumed({ policies, last_steps }: State, task_id: string, found: PastSteps | null): LocalTask {
  const versions = found === null ? null : recalledVersions(found.steps)
  const task = new LocalTask(task_id, versions === null ? policies.atBegin() : policies.withVersions(versions))
  const last_step = last_steps.of(task_id) ?? 0
  if (found === null) task.loseSteps(last_step)
  else task.resume(found, last_step)
  return task
}

/** Indexes the history for the new policies. Decisions and reservations of the task stay. */
function reindex(state: State, task: LocalTask, applied: AppliedPolicies, now: number): LocalTask | Promise<LocalTask> {
  const carry = (found: PastSteps | null) => {
    task.policies = applied
    task.carryTo(applied.set, found)
    return keep(state, task, now)
  }
  return state.recall === null || task.carries(applied.set) ? carry(null) : readBack(state, task.task_id, carry)
}

/** Calls `use` with what the trace has of the task, or with null when the trace cannot be read. */
function readBack(
  { opening, recall }: State,
  task_id: string,
  use: (found: PastSteps | null) => LocalTask,
): Promise<LocalTask> {
  const pending = opening.get(task_id)
  if (pending !== undefined) return pending
  const reading = (async () => use((await recall?.steps(task_id).catch(() => null)) ?? null))()
  opening.set(task_id, reading)
  return reading.finally(() => opening.delete(task_id))
}

function keep(state: State, task: LocalTask, now: number): LocalTask {
  state.table.keep(task.task_id, task, now)
  weigh(state, task)
  return task
}

function weigh({ table, last_steps }: State, task: LocalTask): void {
  table.weigh(task.task_id, task.words)
  last_steps.note(task.task_id, task.last_step)
}
