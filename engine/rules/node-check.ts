// One judgement on a node, used for the step that is judged and, at task_execution, for every step of the task.
import { canonicalType, type EvidenceStep, type Step } from '@svc/schemas'
import {
  type Answer,
  type CompileEnvironment,
  evidenceOf,
  evidenceOfRecorded,
  NOT_APPLICABLE,
  PASS,
  type StepContext,
} from './rule.js'

/** `B` is what is known of the nodes before. */
export interface NodeRule<B> {
  /** Rules with the same key judge the same way. */
  readonly key: string
  readonly init: B
  readonly next: (before: B, type: string) => B
  /** Whether the node fits what came before; null for one that is not checked. */
  readonly fits: (type: string, before: B, step: Step) => boolean | null
  /** The same for the step that is judged, where it needs more than the step. */
  readonly fits_now?: (context: StepContext) => boolean | null
  readonly code: string
  readonly message: string
  readonly remedy: string
}

interface Watched<B> {
  readonly before: B
  readonly checked: boolean
  /** The first node that did not fit. */
  readonly offence: EvidenceStep | null
}

/** Compiles the rule for its scope: one step, or all of a finished task with its end. */
export function nodeCheck<B>(environment: CompileEnvironment, rule: NodeRule<B>): (context: StepContext) => Answer {
  const { code, message, remedy } = rule
  const watched = environment.track<Watched<B>>({
    key: rule.key,
    init: () => ({ before: rule.init, checked: false, offence: null }),
    add: (state, recorded) => {
      const fits = rule.fits(recorded.type, state.before, recorded.step)
      const offence = state.offence ?? (fits === false ? evidenceOfRecorded(recorded) : null)
      return { before: rule.next(state.before, recorded.type), checked: state.checked || fits !== null, offence }
    },
  })
  const whole = environment.scope === 'task_execution'
  return (context) => {
    const { step, history } = context
    const state = watched(history)
    const fits = rule.fits_now ? rule.fits_now(context) : rule.fits(canonicalType(step.step_type), state.before, step)
    const offence = (whole ? state.offence : null) ?? (fits === false ? evidenceOf(step) : null)
    if (offence !== null) return { code, message, evidence: [offence], remedy }
    return fits !== null || (whole && state.checked) ? PASS : NOT_APPLICABLE
  }
}
