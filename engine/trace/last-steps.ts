// The numbers of the last steps of tasks that have ended: a task id that is used again numbers on from there.

/** Tasks whose number is remembered; the oldest is forgotten first. */
const maxTasks = 100_000

export interface LastSteps {
  /** A task without steps, number 0, is not remembered. */
  readonly note: (task_id: string, step: number) => void
  /** 0 for an unknown task. */
  readonly of: (task_id: string) => number
}

export function lastSteps(): LastSteps {
  const numbers = new Map<string, number>()
  return {
    note: (task_id, step) => {
      const last = Math.max(step, numbers.get(task_id) ?? 0)
      if (last === 0) return
      numbers.delete(task_id)
      numbers.set(task_id, last)
      const [oldest] = numbers.keys()
      if (numbers.size > maxTasks && oldest !== undefined) numbers.delete(oldest)
    },
    of: (task_id) => numbers.get(task_id) ?? 0,
  }
}
