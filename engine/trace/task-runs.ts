// Where the latest run of each task begins in a trace, and whether the trace has all of it.
import { type RunState, startsRun, stateAfter } from '../policy/runs.js'

export interface TaskRuns {
  readonly noteStep: (task_id: string, step_type: string, offset: number) => void
  /** As `noteStep`, for a step that the trace does not have. */
  readonly noteLost: (task_id: string, step_type: string, offset: number) => void
  /** Steps of the task are missing; null: of any task whose run began before. */
  readonly noteGap: (task_id: string | null, offset: number) => void
  readonly noteEnd: (task_id: string) => void
  readonly has: (task_id: string) => boolean
  readonly isRunning: (task_id: string) => boolean
  /** The offset of the first line of the run; null when a part of it is missing, undefined for an unknown task. */
  readonly startOf: (task_id: string) => number | null | undefined
  /** True when a gap of several tasks was noted. */
  readonly hasGaps: () => boolean
}

/** Runs whose offset is remembered; the oldest is forgotten first. */
const maxRuns = 200_000

interface Run {
  readonly offset: number
  state: RunState
  /** False when a step of it is missing in the trace. */
  is_whole: boolean
}

export function createTaskRuns(): TaskRuns {
  const runs = new Map<string, Run>()
  /** Runs that began before are not whole. */
  let gap_at = -1

  const note = (task_id: string, step_type: string, offset: number, is_whole: boolean) => {
    const known = runs.get(task_id)
    const state = known?.state ?? 'none'
    if (known !== undefined && !startsRun(state, step_type)) {
      known.state = stateAfter(state, step_type)
      known.is_whole &&= is_whole
      return
    }
    // The run that began first is first in the map, and is forgotten first.
    runs.delete(task_id)
    runs.set(task_id, { offset, state: stateAfter(state, step_type), is_whole })
    const [oldest] = runs.keys()
    if (runs.size > maxRuns && oldest !== undefined) runs.delete(oldest)
  }
  return {
    noteStep: (task_id, step_type, offset) => note(task_id, step_type, offset, true),
    noteLost: (task_id, step_type, offset) => note(task_id, step_type, offset, false),
    noteGap: (task_id, offset) => {
      if (task_id === null) gap_at = offset
      else note(task_id, 'step.unknown', offset, false)
    },
    noteEnd: (task_id) => {
      runs.delete(task_id)
    },
    has: (task_id) => runs.has(task_id),
    isRunning: (task_id) => runs.get(task_id)?.state === 'running',
    startOf: (task_id) => {
      const run = runs.get(task_id)
      return run === undefined || (run.is_whole && run.offset > gap_at) ? run?.offset : null
    },
    hasGaps: () => gap_at >= 0,
  }
}
