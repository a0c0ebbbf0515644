// The reading of a bundle before its steps are evaluated: the needs of each task, and when each is needed last.
import type { LeafRecord, LogRecord } from '@svc/schemas'
import { isOfMemory } from '../memory/use.js'

export interface TaskSurvey {
  /** Log index of the last entry of the task. */
  last: number
  /** The policy sets of its steps, each with the log index of the last step that was evaluated with it. */
  readonly sets: Map<string, number>
}

export interface Survey {
  steps: number
  readonly tasks: Map<string, TaskSurvey>
  /** The agents that use their memory, each with the log index of the last such step. */
  readonly memories: Map<string, number>
}

/** More policy sets of one task are not followed: each needs its own history. */
export const maxSetsOfTask = 100

export function newSurvey(): Survey {
  return { steps: 0, tasks: new Map(), memories: new Map() }
}

/** Takes the next record; null for a deleted one. */
export function surveyRecord(survey: Survey, log_index: number, record: LogRecord | LeafRecord | null): void {
  if (record?.type !== 'step') return
  const { task_id, agent_id, policy_set } = record
  const task = survey.tasks.get(task_id) ?? { last: 0, sets: new Map<string, number>() }
  survey.steps += 1
  survey.tasks.set(task_id, task)
  task.last = log_index
  if (task.sets.size <= maxSetsOfTask || task.sets.has(policy_set)) task.sets.set(policy_set, log_index)
  if (isOfMemory(record)) survey.memories.set(agent_id, log_index)
}
