// The tasks of a replay by id. Only so many of them keep their histories.
import type { JsonMap } from '@svc/schemas'
import { TaskTable } from '../../task/table.js'
import type { Task } from '../../task/task.js'
import type { Flip, Outcome } from './result.js'
import type { View } from './sets.js'

/** Outcomes of a task under one policy set so far. */
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

function newMarks(): Marks {
  return { blocked: false, asked: false, warned: false }
}

/** Marks the task with the outcome of a step. */
export function mark(marks: Marks, outcome: Outcome): void {
  if (outcome === 'block') marks.blocked = true
  else if (outcome === 'ask') marks.asked = true
  else if (outcome === 'warn') marks.warned = true
}

/** The change of the task by the second set. */
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
  /** Null before the first step, and when its history is not in memory any more. */
  task: Task | null
  /** Steps so far. */
  length: number
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

export interface ReplayBounds {
  /** Tasks with a history in memory. */
  readonly maxTasks: number
  /** Ended ones among them, for the steps of an id that continues after an end. */
  readonly maxEnded: number
  /** Other tasks whose id is remembered. */
  readonly maxPast: number
}

/** The tasks of a replay. */
export class ReplayedTasks {
  readonly #begin: (task_id: string, source: string) => ReplayedTask
  readonly #maxPast: number
  readonly #table: TaskTable<ReplayedTask>
  readonly #past = new Map<string, ReplayedTask>()
  /** The running task of the last step: consecutive steps are often of one task. */
  #last: ReplayedTask | null = null

  constructor({ maxPast, ...bounds }: ReplayBounds, begin: (task_id: string, source: string) => ReplayedTask) {
    this.#begin = begin
    this.#maxPast = maxPast
    this.#table = new TaskTable(bounds, (_, task) => this.#drop(task))
  }

  /** Null for an unknown id. */
  find(task_id: string): ReplayedTask | null {
    if (this.#last?.task_id === task_id) return this.#last
    return this.#table.get(task_id) ?? this.#past.get(task_id) ?? null
  }

  /** The task that a step belongs to. */
  open(task_id: string, source: string): ReplayedTask {
    const known = this.find(task_id)
    if (known !== null && known === this.#last) return known
    const task = known ?? this.#begin(task_id, source)
    this.#past.delete(task_id)
    this.#table.keep(task_id, task)
    this.#last = task
    return task
  }

  /** Called after each step at which the task is finished. */
  finish(task: ReplayedTask): void {
    if (this.#last === task) this.#last = null
    this.#table.end(task.task_id)
  }

  /** Drops the history, and remembers that the id was used. */
  #drop(task: ReplayedTask): void {
    if (this.#last === task) this.#last = null
    task.task = null
    task.first_flip = null
    // A task that continues keeps its policies.
    if (task.ended) task.agent = null
    this.#past.set(task.task_id, task)
    if (this.#past.size <= this.#maxPast) return
    const [oldest] = this.#past.keys()
    if (oldest !== undefined) this.#past.delete(oldest)
  }
}

export function newReplayedTask(task_id: string, source: string, agent: JsonMap | null, view: View): ReplayedTask {
  return {
    task_id,
    source,
    one_source: true,
    task: null,
    length: 0,
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
