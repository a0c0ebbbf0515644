// Policies that block on a history of which steps are missing (docs/design/engine.md §5): no rule starts from nothing.
import {
  CannotEvaluate,
  type Check,
  evidenceOf,
  type History,
  PASS,
  type RuleContext,
  type Violation,
} from '../form/rule.js'

/** True if one of the trackers lacks steps. */
export function isLost({ lost }: History, slots: readonly number[]): boolean {
  return lost !== null && slots.some((slot) => lost[slot] === true)
}

/**
 * The check, violated where it passes only because steps may be missing. A limit that the known steps exceed keeps its own
 * violation. Below a `not` neither answer is certain.
 */
export function onWholeHistory(check: Check, slots: readonly number[], negates: boolean): Check {
  if (slots.length === 0) return check
  const guarded = (context: RuleContext) => {
    const answer = check(context)
    if (context.history.lost === null || !isLost(context.history, slots)) return answer
    if (negates && (answer === PASS || typeof answer === 'object')) throw new CannotEvaluate(unknownHistory(context))
    return answer === PASS ? unknownHistory(context) : answer
  }
  return check.because === undefined ? guarded : Object.assign(guarded, { because: check.because })
}

export function unknownHistory({ step }: RuleContext): Violation {
  return {
    code: 'HISTORY_LOST',
    message: 'the history of this task is not whole',
    evidence: step === null ? [] : [evidenceOf(step)],
    remedy: 'do this in a new task',
  }
}
