// One task of a bundle: its steps so far, indexed for each policy set that one of its later steps was evaluated with.
import type { RejudgeVerdict } from '@svc/schemas'
import type { OthersLabel } from '../rules/taint/labels.js'
import type { LoggedStep } from '../task/logged.js'
import { Task } from '../task/task.js'
import type { ReadPolicySet } from './policy-set.js'
import type { TaskSurvey } from './survey.js'

/** The reason why a step cannot be evaluated again. */
export type RejudgeReason = RejudgeVerdict['others'][number]['reason']

export interface OpenTask {
  readonly survey: TaskSurvey
  readonly histories: Map<string, Task>
  /** The reason why no later step of the task can be evaluated; null while they can. */
  unknown: RejudgeReason | null
}

/**
 * A task with these policy sets by digest. The platform indexes the whole history again when the policies of a running task
 * change; here every set has its history from the first step, so that no step is kept.
 */
export function openTask(survey: TaskSurvey, sets: ReadonlyMap<string, ReadPolicySet>): OpenTask {
  const histories = new Map([...sets].map(([digest, { set }]) => [digest, new Task(set)]))
  return { survey, histories, unknown: null }
}

/** Adds the step to every history. */
export function addStep({ histories }: OpenTask, step: LoggedStep): void {
  for (const task of histories.values()) task.add(step)
}

/** Drops the histories that no step after this log index needs. */
export function dropFinished({ survey, histories }: OpenTask, log_index: number): void {
  for (const [digest, last] of survey.sets) if (last <= log_index) histories.delete(digest)
}

/** No later step of the task can be evaluated. */
export function giveUp(task: OpenTask, reason: RejudgeReason): void {
  task.unknown ??= reason
  task.histories.clear()
}

/** The label of the content of others in the task; `unknown` when no history is left. */
export function receivedIn({ histories }: OpenTask): OthersLabel | null | 'unknown' {
  for (const { received } of histories.values()) return received
  return 'unknown'
}
