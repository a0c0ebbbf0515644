// Finds the start of each task in a trace, and the tasks of which the trace has all steps.

export interface TaskStarts {
  readonly noteStep: (task_id: string, offset: number) => void
  /** As `noteStep`, for a step that the trace does not have. */
  readonly noteLost: (task_id: string, offset: number) => void
  /** Steps of the task are missing; null: of any task that began before. */
  readonly noteGap: (task_id: string | null, offset: number) => void
  readonly has: (task_id: string) => boolean
  /** The task as the trace has it; undefined for an unknown one. */
  readonly of: (task_id: string) => KnownTask | undefined
  /** True when a gap of several tasks was noted. */
  readonly hasGaps: () => boolean
}

export interface KnownTask {
  /** Of its first line. */
  readonly offset: number
  /** False when the trace lacks a step of it; null when it began before a gap of several tasks: its numbers show it. */
  readonly is_whole: boolean | null
}

/** Tasks whose offset is remembered; the oldest is forgotten first. */
const maxTasks = 200_000

interface Start {
  readonly offset: number
  /** False when a step of it is missing in the trace. */
  is_whole: boolean
}

export function createTaskStarts(): TaskStarts {
  const starts = new Map<string, Start>()
  /** Of the latest gap of several tasks. */
  let gap_at = -1

  const note = (task_id: string, offset: number, is_whole: boolean) => {
    const known = starts.get(task_id)
    if (known !== undefined) {
      known.is_whole &&= is_whole
      return
    }
    // The task that began first is first in the map, and is forgotten first.
    starts.set(task_id, { offset, is_whole })
    const [oldest] = starts.keys()
    if (starts.size > maxTasks && oldest !== undefined) starts.delete(oldest)
  }
  return {
    noteStep: (task_id, offset) => note(task_id, offset, true),
    noteLost: (task_id, offset) => note(task_id, offset, false),
    noteGap: (task_id, offset) => {
      if (task_id === null) gap_at = offset
      else note(task_id, offset, false)
    },
    has: (task_id) => starts.has(task_id),
    of: (task_id) => {
      const start = starts.get(task_id)
      return (
        start && { offset: start.offset, is_whole: start.is_whole && start.offset <= gap_at ? null : start.is_whole }
      )
    },
    hasGaps: () => gap_at >= 0,
  }
}
