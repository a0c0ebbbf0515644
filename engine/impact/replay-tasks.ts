// The tasks of a replay by id. Only so many of them keep their histories.
import type { JsonMap } from '@svc/schemas'
import type { History } from '../rules/rule.js'
import type { Flip, Outcome } from './replay-result.js'
import type { View } from './replay-sets.js'

/** What one policy set said about a task so far. */
export interface Marks {
  blocked: boolean
  asked: boolean
  warned: boolean
}

/**
 * `newly_blocked`: a step blocks that no step did before. `no_longer_blocked`: the reverse. `newly_asked`: neither of them, and a
 * step asks a person where none blocked or asked before.
 */
export type TaskChange = 'newly_blocked' | 'newly_asked' | 'no_longer_blocked'

export function newMarks(): Marks {
  return { blocked: false, asked: false, warned: false }
}

/** Marks the task with the outcome of a step. */
export function mark(marks: Marks, outcome: Outcome): void {
  if (outcome === 'block') marks.blocked = true
  else if (outcome === 'ask') marks.asked = true
  else if (outcome === 'warn') marks.warned = true
}

/** What the second set changes for the task. */
export function changeOf(old: Marks, now: Marks): TaskChange | null {
  if (old.blocked !== now.blocked) return now.blocked ? 'newly_blocked' : 'no_longer_blocked'
  return now.asked && !old.asked && !old.blocked ? 'newly_asked' : null
}

export interface ReplayedTask {
  readonly task_id: string
  /** The file with the first step. */
  readonly source: string
  /** Every step is from that file. */
  one_source: boolean
  /** Null before the first step, and when it is not in memory any more. */
  history: History | null
  /** Steps so far. */
  length: number
  /** Time of the last step, ms since 1970. */
  now: number | null
  agent: JsonMap | null
  view: View
  /** It has ended at least once. */
  ended: boolean
  history_lost: boolean
  readonly after: Marks
  readonly before: Marks
  flipped: boolean
  /** The first step whose outcome differs; null once the history is dropped. */
  first_flip: Flip | null
  /** The first step that the new set blocks; null at the end of the steps. */
  blocked_step: number | null
  /** Ids of policies that the task violated. */
  violated: Set<number> | null
}

export interface TaskBounds {
  /** Running tasks with a history in memory. */
  readonly max_running: number
  /** Ended tasks with a history in memory, for the steps of an id that continues after an end. */
  readonly max_ended: number
  /** Other tasks whose id is remembered. */
  readonly max_past: number
}

export interface ReplayedTasks {
  /** The task that a step belongs to. */
  readonly open: (task_id: string, source: string) => ReplayedTask
  /** Null for an unknown id. */
  readonly find: (task_id: string) => ReplayedTask | null
  /** Called after each step at which the task is finished. */
  readonly finish: (task: ReplayedTask) => void
}

interface Table extends TaskBounds {
  readonly begin: (task_id: string, source: string) => ReplayedTask
  /** The least recently used task is first in each. */
  readonly running: Map<string, ReplayedTask>
  readonly ended: Map<string, ReplayedTask>
  readonly past: Map<string, ReplayedTask>
  /** The running task of the last step: consecutive steps are often of one task. */
  last: ReplayedTask | null
}

export function createReplayedTasks(bounds: TaskBounds, begin: Table['begin']): ReplayedTasks {
  const table: Table = { ...bounds, begin, running: new Map(), ended: new Map(), past: new Map(), last: null }
  return {
    open: (task_id, source) => open(table, task_id, source),
    find: (task_id) => find(table, task_id),
    finish: (task) => finish(table, task),
  }
}

function find({ last, running, ended, past }: Table, task_id: string): ReplayedTask | null {
  if (last?.task_id === task_id) return last
  return running.get(task_id) ?? ended.get(task_id) ?? past.get(task_id) ?? null
}

function open(table: Table, task_id: string, source: string): ReplayedTask {
  const known = find(table, task_id)
  if (known !== null && known === table.last) return known
  const task = known ?? table.begin(task_id, source)
  table.last = task
  table.ended.delete(task_id)
  table.past.delete(task_id)
  // The least recently used task stays first.
  table.running.delete(task_id)
  table.running.set(task_id, task)
  if (table.running.size > table.max_running) dropFirst(table, table.running)
  return task
}

function finish(table: Table, task: ReplayedTask): void {
  const { ended, running } = table
  running.delete(task.task_id)
  if (table.last === task) table.last = null
  ended.delete(task.task_id)
  ended.set(task.task_id, task)
  if (ended.size > table.max_ended) dropFirst(table, ended)
}

/** Drops the history of the first task, and remembers that its id was used. */
function dropFirst({ past, max_past }: Table, tasks: Map<string, ReplayedTask>): void {
  const [task] = tasks.values()
  if (task === undefined) return
  tasks.delete(task.task_id)
  task.history = null
  task.first_flip = null
  // A task that continues keeps its policies.
  if (task.ended) task.agent = null
  past.set(task.task_id, task)
  if (past.size <= max_past) return
  const [oldest] = past.keys()
  if (oldest !== undefined) past.delete(oldest)
}

export function newReplayedTask(task_id: string, source: string, agent: JsonMap | null, view: View): ReplayedTask {
  return {
    task_id,
    source,
    one_source: true,
    history: null,
    length: 0,
    now: null,
    agent,
    view,
    ended: false,
    history_lost: false,
    after: newMarks(),
    before: newMarks(),
    flipped: false,
    first_flip: null,
    blocked_step: null,
    violated: null,
  }
}
