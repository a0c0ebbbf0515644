// The running tasks of this machine, limited in number, age and size, each indexed for the policies in effect.
import { canonicalType } from '@svc/schemas'
import { carryOver, newHistory, record, wordsIn } from '../policy/history.js'
import type { History } from '../rules/rule.js'
import type { LastSteps } from '../trace/memory/last-steps.js'
import type { Recall, RecalledTask } from '../trace/recall/recall.js'
import { recalledVersions } from './recalled-versions.js'
import { newTask, reservationMs, type Task } from './task.js'
import type { AppliedPolicies, TaskPolicies } from './task-policies.js'

export interface Tasks {
  /**
   * The task of this id, which has one history whatever ended it. `now` is in ms, on a clock that never jumps. A task that
   * this process evicted, or that ran before it started, is read back from the trace; without its lines there it gets
   * `history_lost`.
   */
  readonly open: (task_id: string, now: number) => Task | Promise<Task>
  /** Reads the task back when it is not in memory; null for an unknown one. `is_open`: it was not closed before. */
  readonly load: (task_id: string, now: number) => Promise<{ readonly task: Task | null; readonly is_open: boolean }>
  /** An ended task is evicted before tasks that run. */
  readonly close: (task: Task) => void
  /** Counts the words of a task whose history has changed, and remembers its last step. */
  readonly weigh: (task: Task) => void
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
  /** Words of all histories together, beyond which tasks are evicted whose last request was a while ago. */
  readonly maxWords: number
}

interface TaskTable extends TasksParts {
  /** The least recently used task is first. */
  readonly known: Map<string, Task>
  /** The same of those that were closed, and are evicted first. */
  readonly closed: Map<string, Task>
  /** Of the tasks in memory. */
  words: number
  /** Tasks that are being read back; concurrent requests wait for the same promise. */
  readonly opening: Map<string, Promise<Task>>
}

export function createTasks(parts: TasksParts): Tasks {
  const table: TaskTable = {
    ...parts,
    known: new Map(),
    closed: new Map(),
    words: 0,
    opening: new Map(),
  }
  return {
    open: (task_id, now) => open(table, task_id, now),
    load: async (task_id, now) => {
      const is_open = table.known.has(task_id)
      const is_known = is_open || table.closed.has(task_id) || (await table.recall?.holds(task_id)) === true
      const task = is_known ? await find(table, task_id, now) : null
      return { task, is_open: is_open || task?.history.finished === false }
    },
    close: (task) => {
      table.last_steps.note(task.task_id, task.last_step)
      if (!table.known.delete(task.task_id)) return
      table.closed.set(task.task_id, task)
    },
    weigh: (task) => weigh(table, task),
    count: () => table.known.size,
  }
}

function open(table: TaskTable, task_id: string, now: number): Task | Promise<Task> {
  const task = find(table, task_id, now)
  if (!(task instanceof Promise)) return task
  // While this request waited, the task may have been evicted, and the policies may have changed again.
  return task.then((found) => {
    const is_current = inMemory(table, task_id) === found && table.policies.after(found.policies) === found.policies
    return is_current ? found : open(table, task_id, now)
  })
}

function inMemory({ known, closed }: TaskTable, task_id: string): Task | undefined {
  return known.get(task_id) ?? closed.get(task_id)
}

function find(table: TaskTable, task_id: string, now: number): Task | Promise<Task> {
  const task = inMemory(table, task_id)
  if (task === undefined) return table.opening.get(task_id) ?? findUnknown(table, task_id, now)
  const applied = table.policies.after(task.policies)
  return applied === task.policies ? keep(table, task, now) : reindex(table, task, applied, now)
}

function findUnknown(table: TaskTable, task_id: string, now: number): Task | Promise<Task> {
  const held = table.recall?.holds(task_id) ?? false
  const last_step = table.last_steps.of(task_id)
  const isUnknown = (is_held: boolean) => !is_held && last_step === undefined
  const beginHere = () => begin(table, task_id, now, false)
  if (held === false && isUnknown(held)) return beginHere()
  return (async () => {
    if (isUnknown(await held)) return inMemory(table, task_id) ?? beginHere()
    // What the trace lacks of a task that ran before may be in the log of the platform.
    return readBack(table, task_id, (found) =>
      found === null ? begin(table, task_id, now, true, last_step) : resume(table, task_id, found, now),
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
  return readBack(table, task.task_id, (found) => {
    if (found === null || !isWhole(found, task.last_step)) return carry(history, false)
    // An evaluation may have limited the tools since the last recorded step.
    return carry({ ...historyOf(applied, found), tools: history.tools }, true)
  })
}

/** Calls `use` with what the trace has of the task, or with null when the trace cannot be read. */
function readBack(
  { opening, recall }: TaskTable,
  task_id: string,
  use: (found: RecalledTask | null) => Task,
): Promise<Task> {
  const pending = opening.get(task_id)
  if (pending !== undefined) return pending
  const reading = (async () => use((await recall?.steps(task_id).catch(() => null)) ?? null))()
  opening.set(task_id, reading)
  return reading.finally(() => opening.delete(task_id))
}

/** INVARIANT (a number is used once): a task whose history is lost is numbered on as far as its last number is known. */
function begin(table: TaskTable, task_id: string, now: number, history_lost: boolean, last_step = 0): Task {
  return keep(table, newTask(task_id, table.policies.atBegin(), history_lost, last_step), now)
}

function keep(table: TaskTable, task: Task, now: number): Task {
  const { task_id } = task
  task.touched_at = now
  forget(table, task_id)
  makeRoom(table, now)
  table.known.set(task_id, task)
  table.words += task.words
  return task
}

function forget(table: TaskTable, task_id: string): void {
  const task = inMemory(table, task_id)
  table.known.delete(task_id)
  table.closed.delete(task_id)
  table.words -= task?.words ?? 0
}

function weigh(table: TaskTable, task: Task): void {
  const words = wordsIn(task.policies.set, task.history)
  if (inMemory(table, task.task_id) === task) table.words += words - task.words
  task.words = words
  table.last_steps.note(task.task_id, task.last_step)
}

function makeRoom(table: TaskTable, now: number): void {
  const { known, closed, maxTasks, maxIdleMs, maxWords } = table
  for (const tasks of [closed, known])
    for (const task of tasks.values()) {
      const idle_ms = now - task.touched_at
      // A task in use would be read back at its next step, and again at the one after that.
      const is_too_large = table.words > maxWords && idle_ms > reservationMs
      if (known.size + closed.size < maxTasks && idle_ms <= maxIdleMs && !is_too_large) break
      evict(table, task)
    }
}

function evict(table: TaskTable, { task_id, last_step }: Task): void {
  forget(table, task_id)
  table.last_steps.note(task_id, last_step)
}

/** A task that this process does not know, from its trace: it keeps the versions of manifests that it had. */
function resume(table: TaskTable, task_id: string, found: RecalledTask, now: number): Task {
  const { steps } = found
  const last_step = table.last_steps.of(task_id) ?? 0
  const is_whole = isWhole(found, last_step)
  const task = begin(table, task_id, now, !is_whole, last_step)
  const versions = recalledVersions(steps)
  if (versions !== null) task.policies = table.policies.withVersions(versions)
  task.history = historyOf(task.policies, { steps, is_whole })
  for (const { step } of steps) {
    task.last_step = Math.max(task.last_step, step.step ?? 0)
    task.agent_id = step.agent_id ?? task.agent_id
  }
  task.written_tools = task.history.tools
  weigh(table, task)
  return task
}

/** False also when the trace begins after the first step of the task, or ends before the last known one. */
function isWhole({ steps, is_whole }: RecalledTask, last_step: number): boolean {
  const numbers = steps.map(({ step }) => step.step ?? 0)
  const first = numbers.reduce((least, number) => Math.min(least, number), numbers[0] ?? 1)
  const last = numbers.reduce((most, number) => Math.max(most, number), 0)
  return is_whole && first <= 1 && last >= last_step
}

/** What forbids is kept of a history that is not whole. What allows is not: a gate may have been withdrawn or used since. */
function historyOf({ set }: AppliedPolicies, { steps, is_whole }: RecalledTask): History {
  const history = newHistory(set, is_whole)
  const kept = is_whole ? steps : steps.filter(({ step }) => canonicalType(step.step_type) !== 'step.gate')
  for (const { step, at } of kept) record(set, history, step, at)
  return history
}
