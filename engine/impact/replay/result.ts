// The result of a replay.
import type { DroppedPolicy, Evaluation, PolicyResult } from '@svc/schemas'
import type { Scope } from '../../rules/form/rule.js'

export type Outcome = Evaluation['outcome']

/** The effect of a violation on its step. */
export type PolicyEffect = 'blocks' | 'asks' | 'warns' | 'observed' | 'waived'

/** A step of a recorded task, so that a person finds it again. */
export interface StepPlace {
  readonly task_id: string
  /** The file with all steps of the task; null for a task in several files. */
  readonly source: string | null
  /** Its own number, else its position in the task; null for an end without a step. */
  readonly step: number | null
  readonly step_type: string
  readonly verb: string | null
  readonly step_name: string | null
  /** False for a step that was recorded as blocked: it did not happen. */
  readonly happened: boolean
}

/** Applications of a policy and their results. All numbers but the two of tasks are numbers of steps. */
export interface PolicyTally {
  readonly name: string
  /** The file of the policy and the line in it; null when unknown. */
  readonly manifest: string | null
  readonly line: number | null
  readonly severity: PolicyResult['severity']
  readonly mode: PolicyResult['mode']
  readonly scope: Scope
  /** Tasks for whose agent the policy is in effect: others have a lower risk level. */
  readonly tasks: number
  readonly applicable: number
  readonly passed: number
  /** Steps that would have violated the policy, and that a recorded gate approves; `passed` counts them too. */
  readonly approved: number
  readonly violated: number
  /** Steps that it blocks, and those about which it asks a person. */
  readonly blocked: number
  readonly asked: number
  readonly tasks_violated: number
  /** The first violation. */
  readonly example: Pick<StepPlace, 'task_id' | 'step'> | null
}

/** A violated policy as the cause of an outcome. */
export interface Cause {
  readonly name: string
  /** `old`: the policy is violated under the set to compare with. */
  readonly side: 'new' | 'old'
  readonly severity: PolicyResult['severity']
  readonly effect: PolicyEffect
  readonly code: string
  readonly reason: string
  readonly remedy: string | null
  readonly manifest: string | null
  readonly line: number | null
}

/** The first step of a task that would not have been allowed; the outcome is `block` or `ask`. */
export interface FirstBlock extends StepPlace {
  readonly outcome: Outcome
  readonly policies: readonly Cause[]
}

/** A step whose outcome differs between the two sets. */
export interface Flip extends StepPlace {
  readonly before: Outcome
  readonly after: Outcome
  /** The policies that make the difference. */
  readonly policies: readonly Cause[]
}

/** The first of many things, with the number of all. */
export interface Listed<T> {
  readonly total: number
  readonly listed: readonly T[]
}

export interface ReplayResult {
  /** Runs of task ids with at least one step. */
  readonly tasks: number
  readonly steps: number
  /** Tasks without an end: their task rules were not evaluated. */
  readonly unfinished_tasks: number
  /** Tasks with at least one step of that outcome; a task can be in several of these numbers. */
  readonly blocked_tasks: number
  readonly asked_tasks: number
  readonly warned_tasks: number
  /** Tasks with at least one flip; null without a set to compare with, as are the three below. */
  readonly flipped_tasks: number | null
  readonly newly_blocked_tasks: number | null
  /** Tasks that neither set blocks, and of which only the new one asks a person. */
  readonly newly_asked_tasks: number | null
  readonly no_longer_blocked_tasks: number | null
  /** Steps that were recorded as blocked: they did not happen, and count for nothing in the history. */
  readonly recorded_blocks: number
  readonly unreadable_lines: number
  /** Tasks that went on after their history was dropped to make room: their results may be wrong. */
  readonly history_lost: Listed<string>
  readonly skipped_tasks: Listed<{ readonly task_id: string; readonly reason: string }>
  readonly policies: readonly PolicyTally[]
  /** Those of the set to compare with; null without one. */
  readonly old_policies: readonly PolicyTally[] | null
  /** Policies that cannot be compiled, which are in effect nowhere. */
  readonly rejected: readonly Pick<DroppedPolicy, 'name' | 'reason'>[]
  readonly first_blocks: Listed<FirstBlock>
  /** Flips that block or end a block are listed first. */
  readonly flips: Listed<Flip>
}
