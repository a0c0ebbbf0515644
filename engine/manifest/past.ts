// Builds a history from recorded steps.

import { parseTimestamp, type Step } from '@svc/schemas'
import type { PolicySet } from '../policy/compile.js'
import { newHistory, record } from '../policy/history.js'
import type { History } from '../rules/rule.js'

/** Default time of a first step: Monday 2026-01-05T09:00:00Z. */
export const begin = Date.UTC(2026, 0, 5, 9)

/** Times of the steps, ms since 1970: their timestamps, else a second apart; never decreasing within a task. */
export function timesOf(steps: readonly Step[]): number[] {
  let last: number | null = null
  return steps.map((step) => {
    last = timeAfter(last, step)
    return last
  })
}

/** The time of a step whose predecessor has the time `last`; null for the first step of a task. */
export function timeAfter(last: number | null, { timestamp }: Step): number {
  const time = parseTimestamp(timestamp ?? '')
  if (last === null) return time ?? begin
  return time === null ? last + 1000 : Math.max(last, time)
}

/** The history of the steps; `times` from `timesOf`. */
export function historyOf(set: PolicySet, steps: readonly Step[], times: readonly number[]): History {
  const history = newHistory(set)
  for (const [index, step] of steps.entries()) record(set, history, step, times[index] ?? begin)
  return history
}
