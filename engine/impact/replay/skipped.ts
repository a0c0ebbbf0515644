// Tasks that a replay could not evaluate, or not on their whole history.
import type { ReplayResult } from './result.js'

export interface Skipped {
  /** An evaluation that blocked or asked, of a task without a step so far. */
  readonly noteEvaluation: (task_id: string) => void
  /** The first step of a task. */
  readonly noteStep: (task_id: string) => void
  readonly noteLost: (task_id: string) => void
  readonly result: () => Pick<ReplayResult, 'history_lost' | 'skipped_tasks'>
}

/** Tasks that are named in the result. */
const maxNames = 100
/** Tasks without a step that are remembered. */
const maxWaiting = 50_000

const reason = 'no step is recorded: each evaluation of it blocked or asked'

export function createSkipped(): Skipped {
  const waiting = new Set<string>()
  const lost: string[] = []
  let lost_total = 0
  let forgotten = 0
  return {
    noteEvaluation: (task_id) => {
      if (waiting.size < maxWaiting) waiting.add(task_id)
      else if (!waiting.has(task_id)) forgotten += 1
    },
    noteStep: (task_id) => {
      if (waiting.size > 0) waiting.delete(task_id)
    },
    noteLost: (task_id) => {
      lost_total += 1
      if (lost.length < maxNames) lost.push(task_id)
    },
    result: () => ({
      history_lost: { total: lost_total, listed: lost },
      skipped_tasks: {
        total: waiting.size + forgotten,
        listed: [...waiting].slice(0, maxNames).map((task_id) => ({ task_id, reason })),
      },
    }),
  }
}
