// A check of one node, for the step that is evaluated and, at task_execution, for every step of the task.
import { canonicalType, type EvidenceStep, type Step } from '@svc/schemas'
import {
  type Answer,
  type CompileEnvironment,
  evidenceOf,
  evidenceOfRecorded,
  NOT_APPLICABLE,
  PASS,
  type StepContext,
} from './form/rule.js'

/** `B` is the state that follows from the preceding nodes. */
export interface NodeRule<B> {
  /** Rules with the same key do the same check. */
  readonly key: string
  readonly init: B
  readonly next: (before: B, type: string) => B
  /** As of a tracker, for a rule that looks for gates. */
  readonly end?: ((before: B) => B) | undefined
  /** True if the node is valid after the preceding nodes; null when it is not checked. */
  readonly fits: (type: string, before: B, step: Step) => boolean | null
  /** The same for the step that is evaluated, where the check needs more than the step. */
  readonly fits_now?: (context: StepContext) => boolean | null
  readonly code: string
  readonly message: string
  readonly remedy: string
}

interface Watched<B> {
  readonly before: B
  readonly checked: boolean
  /** The first invalid node. */
  readonly invalid: EvidenceStep | null
}

/** Compiles the rule for its scope: one step, or all of a finished task with its end. */
export function nodeCheck<B>(environment: CompileEnvironment, rule: NodeRule<B>): (context: StepContext) => Answer {
  const { code, message, remedy, end } = rule
  const watched = environment.track<Watched<B>>({
    key: rule.key,
    init: () => ({ before: rule.init, checked: false, invalid: null }),
    add: (state, recorded) => {
      const fits = rule.fits(recorded.type, state.before, recorded.step)
      const invalid = state.invalid ?? (fits === false ? evidenceOfRecorded(recorded) : null)
      return { before: rule.next(state.before, recorded.type), checked: state.checked || fits !== null, invalid }
    },
    ...(end !== undefined && { end: (state) => ({ ...state, before: end(state.before) }) }),
  })
  const whole = environment.scope === 'task_execution'
  return (context) => {
    const { step, history } = context
    const state = watched(history)
    const fits = rule.fits_now ? rule.fits_now(context) : rule.fits(canonicalType(step.step_type), state.before, step)
    const invalid = (whole ? state.invalid : null) ?? (fits === false ? evidenceOf(step) : null)
    if (invalid !== null) return { code, message, evidence: [invalid], remedy }
    return fits !== null || (whole && state.checked) ? PASS : NOT_APPLICABLE
  }
}
