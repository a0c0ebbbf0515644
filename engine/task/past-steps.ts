// The source of the steps of a task that is not in memory: a trace, the log, a bundle, a file.
import type { Step } from '@svc/schemas'

export interface PastStep {
  readonly step: Step
  /** The time when it counts as having occurred, ms since 1970. */
  readonly at: number
}

export interface PastSteps {
  /** In order; the last of them when there are too many to read. */
  readonly steps: readonly PastStep[]
  /** False when the source does not have all of them, or may not. */
  readonly is_whole: boolean
}

/** False also when the steps begin after the first of the task, or end before the last known one. */
export function isWhole({ steps, is_whole }: PastSteps, last_step: number): boolean {
  const numbers = steps.map(({ step }) => step.step ?? 0)
  const first = numbers.reduce((least, number) => Math.min(least, number), numbers[0] ?? 1)
  const last = numbers.reduce((most, number) => Math.max(most, number), 0)
  return is_whole && first <= 1 && last >= last_step
}
