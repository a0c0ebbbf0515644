// Recorded steps as a history: when each happened, and what they add up to.

import { parseTimestamp, type Step } from '@svc/schemas'
import type { PolicySet } from '../policy/compile.js'
import { newHistory, record } from '../policy/history.js'
import type { History } from '../rules/rule.js'

/** When a first step happens unless it says so: a Monday morning, 2026-01-05T09:00:00Z. */
export const begin = Date.UTC(2026, 0, 5, 9)

/** When the steps happened, ms since 1970: as they say, else a second apart; never decreasing within a task. */
export function timesOf(steps: readonly Step[]): number[] {
  let last = begin - 1000
  return steps.map(({ timestamp }) => {
    const said = parseTimestamp(timestamp ?? '')
    last = said === null ? last + 1000 : Math.max(last, said)
    return last
  })
}

/** The history that the steps make; `times` are theirs. */
export function historyOf(set: PolicySet, steps: readonly Step[], times: readonly number[]): History {
  const history = newHistory(set)
  for (const [index, step] of steps.entries()) record(set, history, step, times[index] ?? begin)
  return history
}
