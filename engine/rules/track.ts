// Trackers that several rules share: whether a step satisfies a requirement, and the first step of a kind.
import type { Behavior, EvidenceStep, JsonMap } from '@svc/schemas'
import { compilePattern, type StepPattern } from './filter.js'
import { gateProblem } from './gate-words.js'
import { type CompileEnvironment, evidenceOfRecorded, type Recorded, type Slot } from './rule.js'

/** Whether a step of a required kind satisfies the requirement: a gate only when it passed (docs/design/engine.md §3). */
export function satisfies({ type, step }: Recorded): boolean {
  return type !== 'step.gate' || gateProblem(step) === null
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

/** A kind of step, as rules 10 to 13 describe it. */
export interface Kind {
  readonly step_type: string
  readonly verb?: string | undefined
  readonly filter?: JsonMap | undefined
}

export function patternOf({ step_type, verb, filter }: Kind): StepPattern {
  return { step_types: [step_type], verbs: verb === undefined ? undefined : [verb], filter }
}

/** The first step of a forbidden kind; a step with ambiguous fields counts. */
export function trackFirstForbidden(environment: CompileEnvironment, kind: Kind, parameter: string) {
  return trackFirst(environment, kind, true, parameter)
}

/** The first step of a required kind; steps with ambiguous fields and gates that have not passed do not count. */
export function trackFirstRequired(environment: CompileEnvironment, kind: Kind, parameter: string) {
  return trackFirst(environment, kind, false, parameter)
}

function trackFirst(
  environment: CompileEnvironment,
  kind: Kind,
  forbidden: boolean,
  parameter: string,
): Slot<EvidenceStep | null> {
  const matches = compilePattern(patternOf(kind), forbidden, parameter)
  const counts = (recorded: Recorded) => matches(recorded.step) && (forbidden || satisfies(recorded))
  return environment.track<EvidenceStep | null>({
    key: `first ${forbidden ? 'forbidden' : 'required'} ${JSON.stringify(patternOf(kind))}`,
    init: () => null,
    add: (state, recorded) => state ?? (counts(recorded) ? evidenceOfRecorded(recorded) : null),
  })
}
