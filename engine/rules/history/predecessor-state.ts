// The memory of rules about predecessors for a task: the last required step with what followed it, and unspent predecessors.
import type { EvidenceStep, Step } from '@svc/schemas'
import type { StepKind, TargetFilter } from '../form/params.js'
import { type CompileEnvironment, evidenceOfRecorded, type History, type Recorded, type Slot } from '../form/rule.js'
import { compilePattern, type StepPattern, targetPattern } from '../selection/filter.js'
import { isOfKind, kindKey } from '../selection/kind.js'
import { satisfies } from './track.js'

interface Intervening {
  readonly found: boolean
  /** The first forbidden step after the last required one. */
  readonly intervening: EvidenceStep | null
}

/** The same for required steps of any kind, and for those that an end does not void: no gates. */
interface Between {
  readonly any: Intervening
  readonly lasting: Intervening
}

/** The first forbidden step after the last required one. */
export function trackIntervening(
  environment: CompileEnvironment,
  required_step_type: StepKind,
  forbidden: readonly StepKind[],
): Slot<Intervening> {
  const isRequired = isOfKind(required_step_type, false, 'required_step_type.property_filter')
  const between = forbidden.map((kind, index) => isOfKind(kind, true, `forbidden_intervening.${index}.property_filter`))
  const after = (state: Intervening, recorded: Recorded): Intervening => {
    if (!state.found || state.intervening !== null || !between.some((isForbidden) => isForbidden(recorded)))
      return state
    return { found: true, intervening: evidenceOfRecorded(recorded) }
  }
  const state = environment.track<Between>({
    key: `intervening ${JSON.stringify([kindKey(required_step_type), ...forbidden.map(kindKey).sort()])}`,
    init: () => ({ any: never, lasting: never }),
    add: (state, recorded) => {
      const satisfying = isRequired(recorded) && satisfies(recorded)
      const any = satisfying ? justNow : after(state.any, recorded)
      const lasting = satisfying && recorded.type !== 'step.gate' ? justNow : after(state.lasting, recorded)
      return any === state.any && lasting === state.lasting ? state : { any, lasting }
    },
    end: ({ lasting }) => ({ any: lasting, lasting }),
  })
  return Object.assign((history: History) => state(history).any, { slot: state.slot })
}

const never: Intervening = { found: false, intervening: null }
const justNow: Intervening = { found: true, intervening: null }

interface Credit {
  readonly left: number
  /** Those of them that an end does not void: not of gates. They are spent first. */
  readonly lasting: number
  readonly ever: boolean
}

/** A step that is both counts as a predecessor; a failed gate of that kind neither adds nor takes credit. */
export function trackCredit(
  environment: CompileEnvironment,
  predecessor: StepPattern,
  params: TargetFilter,
  isPredecessor: (step: Step) => boolean,
): Slot<Credit> {
  const target = targetPattern(params)
  const isTarget = compilePattern(target, true, 'target_property_filter')
  return environment.track<Credit>({
    key: `credit ${JSON.stringify([predecessor, target])}`,
    init: () => ({ left: 0, lasting: 0, ever: false }),
    add: (state, recorded) => {
      const { left, lasting } = state
      if (isPredecessor(recorded.step)) {
        if (!satisfies(recorded)) return state
        return { left: left + 1, lasting: recorded.type === 'step.gate' ? lasting : lasting + 1, ever: true }
      }
      if (left === 0 || !isTarget(recorded.step)) return state
      return { ...state, left: left - 1, lasting: Math.max(0, lasting - 1) }
    },
    end: ({ left, lasting, ever }) => ({ left: lasting, lasting, ever: ever && left === lasting }),
  })
}
