// Trackers that several rules share: whether a step satisfies a requirement, and the first step of a kind.
import type { Behavior, EvidenceStep, Step } from '@svc/schemas'
import {
  type CompileEnvironment,
  evidenceOfRecorded,
  type History,
  type Recorded,
  type Slot,
  type Violation,
} from '../form/rule.js'
import { digestOfGate, gateProblem } from '../gates/gate-words.js'
import { compilePattern, type StepPattern } from '../selection/filter.js'
import { patternWords } from '../selection/kind.js'

/**
 * True if a step of a required kind satisfies the requirement: a gate only when it passed. A gate with the digest of an action
 * approves this action and no other (docs/design/engine.md §3).
 */
export function satisfies({ type, step }: Recorded): boolean {
  return type !== 'step.gate' || (gateProblem(step) === null && digestOfGate(step) === null)
}

/** True if the step is a gate for one action. Rules about the order of steps do not see it. */
export function isBoundGate({ type, step }: Recorded): boolean {
  return type === 'step.gate' && digestOfGate(step) !== null
}

/** True if a step of this type ends its task. */
export function isEndType(type: string): boolean {
  return type === 'task.end' || type === 'task.error'
}

/** A passed gate as an agent records it. */
export function passedGate(check_type?: string, digest?: string): Behavior {
  const guard = { ...(check_type !== undefined && { check_type }), result: 'passed' }
  return {
    step_type: 'step.gate',
    ...(digest !== undefined && { input: { action_digest: digest } }),
    properties: { guard },
  }
}

/** The first step of a forbidden kind; a step with ambiguous fields counts. */
export function trackFirstForbidden(
  environment: CompileEnvironment,
  pattern: StepPattern,
  parameter: string,
): Slot<EvidenceStep | null> {
  const matches = compilePattern(pattern, true, parameter)
  return environment.track<EvidenceStep | null>({
    key: `first forbidden ${JSON.stringify(pattern)}`,
    init: () => null,
    add: (state, recorded) => state ?? (matches(recorded.step) ? evidenceOfRecorded(recorded) : null),
  })
}

/** The first step, and the first that an end does not void: no gate. */
interface First {
  readonly any: EvidenceStep | null
  readonly lasting: EvidenceStep | null
}

/** The first step of a required kind; steps with ambiguous fields and gates that have not passed do not count. */
export function trackFirstRequired(
  environment: CompileEnvironment,
  pattern: StepPattern,
  parameter: string,
): Slot<EvidenceStep | null> {
  const matches = compilePattern(pattern, false, parameter)
  const first = environment.track<First>({
    key: `first required ${JSON.stringify(pattern)}`,
    init: () => ({ any: null, lasting: null }),
    add: (state, recorded) => {
      const voided = recorded.type === 'step.gate'
      if (state.lasting !== null || (voided && state.any !== null)) return state
      if (!matches(recorded.step) || !satisfies(recorded)) return state
      const evidence = evidenceOfRecorded(recorded)
      return { any: state.any ?? evidence, lasting: voided ? null : evidence }
    },
    end: ({ lasting }) => ({ any: lasting, lasting }),
  })
  return Object.assign((history: History) => first(history).any, { slot: first.slot })
}

/** For the violation of a rule that misses such a step before this one: whether this step is the first of them. */
export function firstOfItsKind(pattern: StepPattern, parameter: string): (step: Step) => Pick<Violation, 'once'> {
  const isSuch = compilePattern(pattern, false, parameter)
  const text = `this is the first ${patternWords(pattern).slice(2)} in this task`
  return (step) => ({ once: () => (isSuch(step) ? text : null) })
}
