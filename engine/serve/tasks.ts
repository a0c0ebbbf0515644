// The tasks under way on this machine, bounded by number and age.
import type { Evaluation } from '@svc/schemas'
import type { PolicySet } from '../policy/compile.js'
import { newHistory } from '../policy/history.js'
import type { History } from '../rules/rule.js'
import type { JsonMap } from '../steps.js'

export interface Task {
  readonly task_id: string
  readonly history: History
  /** Highest step number so far. */
  last_step: number
  /** The agent as the last evaluation of this task knew it. */
  facts: JsonMap
  /** Decisions whose step has not been recorded yet, by evaluation id. */
  readonly pending: Map<string, Evaluation>
  /** True once task.end has been judged. */
  ended: boolean
  /** True when steps before this process's knowledge may exist. */
  readonly history_lost: boolean
  touched_at: number
}

export interface Tasks {
  /** The task, begun now when it is new; `now` is ms since 1970. */
  readonly open: (task_id: string, now: number) => Task
  readonly find: (task_id: string) => Task | null
  readonly end: (task_id: string) => void
}

export interface TaskLimits {
  readonly most: number
  /** ms */
  readonly oldest: number
}

/** How many evicted tasks are remembered as such, so that one that goes on is not taken for a new one. */
const evictedRemembered = 100_000
/** Decisions kept per task for /record to find. */
const pendingKept = 100

export function createTasks(set: PolicySet, limits: TaskLimits): Tasks {
  const known = new Map<string, Task>()
  const evicted = new Set<string>()

  const evict = (task_id: string) => {
    known.delete(task_id)
    evicted.add(task_id)
    const [oldest] = evicted
    if (evicted.size > evictedRemembered && oldest !== undefined) evicted.delete(oldest)
  }
  const makeRoom = (now: number) => {
    for (const task of known.values()) {
      if (known.size < limits.most && now - task.touched_at <= limits.oldest) return
      evict(task.task_id)
    }
  }
  const begin = (task_id: string, now: number): Task => {
    makeRoom(now)
    const history_lost = evicted.delete(task_id)
    return {
      task_id,
      history: newHistory(set),
      last_step: 0,
      facts: {},
      pending: new Map(),
      ended: false,
      history_lost,
      touched_at: now,
    }
  }

  return {
    open: (task_id, now) => {
      const task = known.get(task_id) ?? begin(task_id, now)
      task.touched_at = now
      // The least recently used stands first.
      known.delete(task_id)
      known.set(task_id, task)
      return task
    },
    find: (task_id) => known.get(task_id) ?? null,
    end: (task_id) => {
      known.delete(task_id)
      evicted.delete(task_id)
    },
  }
}

/** Keeps a decision until its step is recorded. */
export function awaitRecord(task: Task, evaluation: Evaluation): void {
  task.pending.set(evaluation.evaluation_id, evaluation)
  const [oldest] = task.pending.keys()
  if (task.pending.size > pendingKept && oldest !== undefined) task.pending.delete(oldest)
}

/** The decision a recorded step belongs to: by the id it names, else the latest on what it does. Taken once. */
export function takeDecision(task: Task, evaluation_id: unknown, action_digest: string): Evaluation | null {
  const named = typeof evaluation_id === 'string' ? task.pending.get(evaluation_id) : undefined
  // The latest: an agent that was blocked, passed a gate and asked again acts on the second answer.
  const same = [...task.pending.values()].filter((evaluation) => evaluation.action_digest === action_digest)
  const found = named ?? same.at(-1)
  if (found === undefined) return null
  task.pending.delete(found.evaluation_id)
  return found
}
