// The tasks under way on this machine, bounded by number and age, each indexed for the policies in force.
import type { PolicySet } from '../policy/compile.js'
import { carryOver, newHistory, record } from '../policy/history.js'
import type { PastStep, Recall } from '../trace/recall.js'
import { startsRun } from '../trace/runs.js'
import { newTask, type Task } from './task.js'

export interface Tasks {
  /**
   * The task that takes a step of this type, begun now when it is new, or when its run has ended; `now` is ms since
   * 1970. One that this process has let go, or that was running before it started, is read back from the trace when
   * there is one; else it says `history_lost`.
   */
  readonly open: (task_id: string, step_type: string, now: number) => Task | Promise<Task>
  /** Brings the task back when it is running and this process has let it go. */
  readonly load: (task_id: string, now: number) => Promise<void>
  /** The task as it was left, which is then forgotten; null for one that is not in memory. */
  readonly close: (task_id: string) => Task | null
  readonly count: () => number
}

export interface TasksParts {
  /** The policies in force now. */
  readonly set: () => PolicySet
  readonly recall: Recall | null
  readonly most: number
  /** How long a task may rest, ms. */
  readonly oldest: number
}

/** How many evicted tasks are remembered as such, so that one that goes on is not taken for a new one. */
const evictedRemembered = 100_000

export function createTasks({ set, recall, most, oldest }: TasksParts): Tasks {
  const known = new Map<string, Task>()
  const evicted = new Set<string>()
  const opening = new Map<string, Promise<Task>>()

  const evict = ({ task_id, ended }: Task) => {
    known.delete(task_id)
    if (!ended) evicted.add(task_id)
    const [first] = evicted
    if (evicted.size > evictedRemembered && first !== undefined) evicted.delete(first)
  }
  const makeRoom = (now: number) => {
    for (const task of known.values()) {
      if (known.size < most && now - task.touched_at <= oldest) return
      evict(task)
    }
  }
  const keep = (task: Task, now: number): Task => {
    task.touched_at = now
    // The least recently used stands first.
    known.delete(task.task_id)
    makeRoom(now)
    known.set(task.task_id, task)
    return task
  }
  const begin = (task_id: string, now: number, history_lost = false) => {
    evicted.delete(task_id)
    return keep(newTask(task_id, set(), history_lost), now)
  }
  /** Whoever asks for the task meanwhile waits for the same one. */
  const bringBack = (task_id: string, now: number, without: () => Task): Promise<Task> => {
    const known_already = opening.get(task_id)
    if (known_already !== undefined) return known_already
    const brought = (async () => {
      const steps = await recall?.steps(task_id).catch(() => null)
      return steps ? replayed(begin(task_id, now), steps) : without()
    })()
    opening.set(task_id, brought)
    return brought.finally(() => opening.delete(task_id))
  }
  const unknown = (task_id: string, now: number): Task | Promise<Task> => {
    const held = recall?.holds(task_id) ?? false
    const lost = evicted.has(task_id)
    if (held === false) return begin(task_id, now, lost)
    return (async () => {
      if (!(await held)) return known.get(task_id) ?? begin(task_id, now, lost)
      return bringBack(task_id, now, () => begin(task_id, now, true))
    })()
  }
  /** The policies have changed since: what the new ones want to know of the past is read back, or said to be lost. */
  const reindexed = (task: Task, now: number): Task | Promise<Task> => {
    const { history, complete } = carryOver(task.set, task.history, set())
    const carry = () => {
      task.set = set()
      task.history = history
      task.history_lost ||= !complete
      return keep(task, now)
    }
    return complete || recall === null ? carry() : bringBack(task.task_id, now, carry)
  }

  const find = (task_id: string, now: number) => {
    const task = known.get(task_id)
    if (task === undefined) return opening.get(task_id) ?? unknown(task_id, now)
    return task.set === set() ? keep(task, now) : reindexed(task, now)
  }
  const takes = (task: Task, step_type: string) => !(task.ended && startsRun('ended', step_type))
  const open = (task_id: string, step_type: string, now: number): Task | Promise<Task> => {
    const task = find(task_id, now)
    if (!(task instanceof Promise)) return takes(task, step_type) ? task : begin(task_id, now)
    // While this one waited another request may have ended the task.
    return task.then((found) =>
      known.get(task_id) === found && takes(found, step_type) ? found : open(task_id, step_type, now),
    )
  }

  return {
    open,
    load: async (task_id, now) => {
      if (known.has(task_id) || (await recall?.holds(task_id))) await find(task_id, now)
    },
    close: (task_id) => {
      const task = known.get(task_id) ?? null
      known.delete(task_id)
      evicted.delete(task_id)
      return task
    },
    count: () => known.size,
  }
}

function replayed(task: Task, steps: readonly PastStep[]): Task {
  task.history = newHistory(task.set)
  for (const { step, at } of steps) {
    record(task.set, task.history, step, at)
    task.last_step = Math.max(task.last_step, step.step ?? 0)
    task.ended ||= step.step_type === 'task.end'
  }
  return task
}
