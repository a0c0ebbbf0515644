// The running tasks of this machine, limited in number, age and size, each indexed for the policies in effect.
import { carryOver, newHistory, record, wordsIn } from '../policy/history.js'
import { occasionOf } from '../policy/plan.js'
import { startsRun } from '../policy/runs.js'
import type { History } from '../rules/rule.js'
import { type LastSteps, lastSteps } from '../trace/last-steps.js'
import type { PastStep, Recall } from '../trace/recall.js'
import { recalledVersions } from './recalled-versions.js'
import { missingEnd, newTask, reservationMs, type Task } from './task.js'
import type { AppliedPolicies, TaskPolicies } from './task-policies.js'

export interface Tasks {
  /**
   * The task that takes a step of this type; a new one when the id is new or its run has ended. `now` is in ms, on a clock that never jumps.
   * A task that this process evicted, or that ran before it started, is read back from the trace; without a trace it
   * gets `history_lost`.
   */
  readonly open: (task_id: string, step_type: string, now: number) => Task | Promise<Task>
  /** Reads the task back when it is running and not in memory. */
  readonly load: (task_id: string, now: number) => Promise<void>
  /** Forgets the task, and numbers on when its id is used again. `task`: null for one that is not in memory. */
  readonly close: (task_id: string) => ClosedTask
  /** Counts the words of a task whose history has changed. */
  readonly weigh: (task: Task) => void
  readonly count: () => number
}

export interface ClosedTask {
  readonly task: Task | null
  /** False for an id of no running task: unknown, or ended by /end_task before. */
  readonly known: boolean
}

export interface TasksParts {
  readonly policies: TaskPolicies
  readonly recall: Recall | null
  readonly maxTasks: number
  readonly maxIdleMs: number
  /** Words of all histories together, beyond which tasks are evicted whose last request was a while ago. */
  readonly maxWords: number
}

/** The maximum number of remembered ids of evicted tasks. A remembered task that continues is not taken for a new one. */
const maxEvicted = 100_000

interface TaskTable extends TasksParts {
  /** The least recently used task is first. */
  readonly known: Map<string, Task>
  readonly evicted: Set<string>
  /** Of the known tasks. */
  words: number
  readonly ended: LastSteps
  /** Tasks that are being read back; concurrent requests wait for the same promise. */
  readonly opening: Map<string, Promise<Task>>
}

export function createTasks(parts: TasksParts): Tasks {
  const table: TaskTable = {
    ...parts,
    known: new Map(),
    evicted: new Set(),
    words: 0,
    ended: lastSteps(),
    opening: new Map(),
  }
  return {
    open: (task_id, step_type, now) => open(table, task_id, step_type, now),
    load: async (task_id, now) => {
      if (table.known.has(task_id) || (await table.recall?.holds(task_id))) await find(table, task_id, now)
    },
    close: (task_id) => {
      const task = forget(table, task_id)
      const was_evicted = table.evicted.delete(task_id)
      if (task !== null) table.ended.note(task_id, missingEnd(task) ?? task.last_step)
      return { task, known: task !== null || was_evicted }
    },
    weigh: (task) => weigh(table, task),
    count: () => table.known.size,
  }
}

function open(table: TaskTable, task_id: string, step_type: string, now: number): Task | Promise<Task> {
  const task = find(table, task_id, now)
  if (!(task instanceof Promise)) return takes(task, step_type) ? task : beginAgain(table, task, now)
  // While this request waited, another one may have ended the task, and the policies may have changed again.
  return task.then((found) => {
    const is_current = table.known.get(task_id) === found && table.policies.after(found.policies) === found.policies
    return is_current && takes(found, step_type) ? found : open(table, task_id, step_type, now)
  })
}

function takes(task: Task, step_type: string): boolean {
  return !(task.ended && startsRun('ended', step_type))
}

function find(table: TaskTable, task_id: string, now: number): Task | Promise<Task> {
  const task = table.known.get(task_id)
  if (task === undefined) return table.opening.get(task_id) ?? findUnknown(table, task_id, now)
  const applied = table.policies.after(task.policies)
  return applied === task.policies ? keep(table, task, now) : reindex(table, task, applied, now)
}

function findUnknown(table: TaskTable, task_id: string, now: number): Task | Promise<Task> {
  const held = table.recall?.holds(task_id) ?? false
  const lost = table.evicted.has(task_id)
  if (held === false) return begin(table, task_id, now, lost)
  return (async () => {
    if (!(await held)) return table.known.get(task_id) ?? begin(table, task_id, now, lost)
    return readBack(table, task_id, (steps) =>
      steps === null ? begin(table, task_id, now, true) : resume(table, task_id, steps, now),
    )
  })()
}

/**
 * Indexes the history for the new policies: the part that the old index does not hold is read back, or is lost. Decisions
 * and reservations of the task stay.
 */
function reindex(table: TaskTable, task: Task, applied: AppliedPolicies, now: number): Task | Promise<Task> {
  const { history, complete } = carryOver(task.policies.set, task.history, applied.set)
  const carry = (carried: History, is_whole: boolean) => {
    task.policies = applied
    task.history = carried
    task.history_lost ||= !is_whole
    weigh(table, task)
    return keep(table, task, now)
  }
  if (complete || table.recall === null) return carry(history, complete)
  return readBack(table, task.task_id, (steps) => {
    if (steps === null) return carry(history, false)
    // An evaluation may have limited the tools since the last recorded step.
    return carry({ ...historyOf(applied, steps), tools: history.tools }, true)
  })
}

/** Calls `use` with the steps of the task, or with null when they cannot be read. */
function readBack(
  { opening, recall }: TaskTable,
  task_id: string,
  use: (steps: readonly PastStep[] | null) => Task,
): Promise<Task> {
  const pending = opening.get(task_id)
  if (pending !== undefined) return pending
  const reading = (async () => use((await recall?.steps(task_id).catch(() => null)) ?? null))()
  opening.set(task_id, reading)
  return reading.finally(() => opening.delete(task_id))
}

/** INVARIANT (a number is used once): a task whose id was used before numbers on, because the log has one task of an id. */
function begin(table: TaskTable, task_id: string, now: number, history_lost = false): Task {
  table.evicted.delete(task_id)
  const last_step = Math.max(table.ended.of(task_id), table.recall?.lastStep(task_id) ?? 0)
  return keep(table, newTask(task_id, table.policies.atBegin(), history_lost, last_step), now)
}

function beginAgain(table: TaskTable, { task_id, last_step }: Task, now: number): Task {
  table.ended.note(task_id, last_step)
  return begin(table, task_id, now)
}

function keep(table: TaskTable, task: Task, now: number): Task {
  task.touched_at = now
  forget(table, task.task_id)
  makeRoom(table, now)
  table.known.set(task.task_id, task)
  table.words += task.words
  return task
}

function forget(table: TaskTable, task_id: string): Task | null {
  const task = table.known.get(task_id) ?? null
  table.known.delete(task_id)
  table.words -= task?.words ?? 0
  return task
}

function weigh(table: TaskTable, task: Task): void {
  const words = wordsIn(task.policies.set, task.history)
  if (table.known.get(task.task_id) === task) table.words += words - task.words
  task.words = words
}

function makeRoom(table: TaskTable, now: number): void {
  for (const task of table.known.values()) {
    const idle_ms = now - task.touched_at
    // A task in use would be read back at its next step, and again at the one after that.
    const is_too_large = table.words > table.maxWords && idle_ms > reservationMs
    if (table.known.size < table.maxTasks && idle_ms <= table.maxIdleMs && !is_too_large) return
    evict(table, task)
  }
}

function evict(table: TaskTable, task: Task): void {
  const { evicted, ended } = table
  const { task_id } = task
  forget(table, task_id)
  if (task.ended) ended.note(task_id, task.last_step)
  else evicted.add(task_id)
  const [first] = evicted
  if (evicted.size > maxEvicted && first !== undefined) evicted.delete(first)
}

/** A task that this process does not know, from its trace: it keeps the versions of manifests that it had. */
function resume(table: TaskTable, task_id: string, steps: readonly PastStep[], now: number): Task {
  const task = begin(table, task_id, now)
  const versions = recalledVersions(steps)
  if (versions !== null) task.policies = table.policies.withVersions(versions)
  task.history = historyOf(task.policies, steps)
  for (const { step } of steps) {
    task.last_step = Math.max(task.last_step, step.step ?? 0)
    task.agent_id = step.agent_id ?? task.agent_id
    task.ended ||= occasionOf(step) === 'last_step'
  }
  task.written_tools = task.history.tools
  weigh(table, task)
  return task
}

function historyOf({ set }: AppliedPolicies, steps: readonly PastStep[]): History {
  const history = newHistory(set)
  for (const { step, at } of steps) record(set, history, step, at)
  return history
}
