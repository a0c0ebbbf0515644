// What a rule is, what it is asked, and what it may answer.
import type { Behavior, EvidenceStep, JsonMap, Rule, Step } from '@svc/schemas'

export type Scope = 'agent_registration' | 'step_execution' | 'task_execution'
export type Category = Rule['category']

/** The two answers that are not a violation. Not applicable passes a policy, but not a `not` or an `any_of`. */
export const PASS = 0
export const NOT_APPLICABLE = 1

/** A violation: why, which steps caused it, and what would allow the step. Messages never quote payload values. */
export interface Finding {
  readonly code: string
  readonly message: string
  readonly evidence: readonly EvidenceStep[]
  readonly remedy?: string
  /** Steps that would allow this one once they are recorded, where parameters alone decide what they look like. */
  readonly remedy_steps?: readonly Behavior[]
}

export type Answer = typeof PASS | typeof NOT_APPLICABLE | Finding

/**
 * What a rule found could not be judged: the policy is violated, whatever `not` and `any_of` around the rule would make of
 * a violation.
 */
export class Unjudgeable extends Error {
  readonly finding: Finding
  constructor(finding: Finding) {
    super(finding.message)
    this.finding = finding
  }
}

/** A step that has happened. `position` is 1-based within the history, `at` is milliseconds since 1970. */
export interface Recorded {
  readonly step: Step
  readonly type: string
  readonly position: number
  readonly at: number
}

/** What a task has done so far, as running indexes: one state per tracker. */
export interface History {
  /** Steps that count: recorded and not blocked. */
  length: number
  readonly states: unknown[]
}

/** Everything a rule may look at. `now` is milliseconds since 1970; at registration there is no step and no history. */
export interface Situation {
  readonly step: Step | null
  readonly agent: JsonMap
  readonly context: JsonMap
  readonly history: History
  readonly now: number
}

/** Why a rule passed: the steps that made it pass, and what would make it be violated. */
export interface PassCause {
  readonly evidence: readonly EvidenceStep[]
  readonly undo?: string
}

/** A compiled rule: pure, synchronous, and free of anything that parameters alone decide. */
export type Check = CheckOf<Situation>

export interface CheckOf<S extends Situation> {
  (situation: S): Answer
  /** Asked only when the rule passed inside a violated `not`; left out where this step alone decides. */
  readonly because?: (situation: S) => PassCause
}

/** What a rule sees that cannot be used at registration: there always is a step. */
export interface StepSituation extends Situation {
  readonly step: Step
}

/** Running knowledge about a task, kept up to date step by step so that no rule scans history. */
export interface Tracker<S> {
  /** Trackers with the same key see the same steps the same way and share one state. */
  readonly key: string
  readonly init: () => S
  readonly add: (state: S, recorded: Recorded) => S
  /** A state that may go on without the original; left out where states are never changed in place. */
  readonly copy?: (state: S) => S
}

/** Where a compiled rule finds its tracker's state. */
export type Slot<S> = (history: History) => S

/** What a rule may ask for while it is compiled. */
export interface CompileEnvironment {
  readonly scope: Scope
  /** The parameters are known to fit the schema of the rule. */
  readonly sound: boolean
  readonly track: <S>(tracker: Tracker<S>) => Slot<S>
}

/** What is said of a rule to those who write policies. */
export interface RuleDescription {
  readonly name: string
  readonly category: Category
  readonly scopes: readonly Scope[]
  /** JSON Schema of the parameters; the target filter is added where the rule takes one. */
  readonly params: JsonMap
  readonly doc: string
  readonly example: JsonMap
  /** Whether the rule takes the target filter; `writes`: its verbs default to the writing ones, and step.exec is meant too. */
  readonly targets: boolean | 'writes'
}

/** A rule that answers for itself, whatever its parameters are. */
export interface LeafRule extends RuleDescription {
  /** The only step types it can be applicable to; left out where it can be to any. */
  readonly judges?: (params: JsonMap) => readonly string[]
  readonly compile: (params: JsonMap, environment: CompileEnvironment) => Check
}

interface LeafRuleOf<P, S extends Situation> extends RuleDescription {
  readonly example: P & JsonMap
  readonly judges?: (params: P) => readonly string[]
  readonly compile: (params: P, environment: CompileEnvironment) => CheckOf<S>
}

/** Lets a list hold rules of different parameters; the schema has been checked before `compile` is called. */
export function defineRule<P>(definition: LeafRuleOf<P, Situation>): LeafRule {
  const { judges } = definition
  return {
    ...definition,
    ...(judges && { judges: (params: JsonMap) => judges(params as P) }),
    compile: (params, environment) => definition.compile(params as P, environment),
  } as LeafRule
}

/** A rule about steps: its scopes leave registration out, which is the only situation without a step. */
export function defineStepRule<P>(definition: LeafRuleOf<P, StepSituation>): LeafRule {
  return defineRule(definition as unknown as LeafRuleOf<P, Situation>)
}

/** The step under judgement as evidence; its number is null until it is recorded. */
export function evidenceOf(step: Step): EvidenceStep {
  return { step: step.step ?? null, step_type: step.step_type, step_name: step.step_name ?? null }
}

/** A recorded step as evidence, numbered as it was logged, else by its place in the history. */
export function evidenceOfRecorded({ step, position }: Recorded): EvidenceStep {
  return { ...evidenceOf(step), step: step.step ?? position }
}

/** A step that may not be there, as evidence. */
export function present(step: EvidenceStep | null): readonly EvidenceStep[] {
  return step === null ? [] : [step]
}

/** A violation by the step under judgement, after the earlier steps that led to it. */
export function stepViolation(
  { step }: StepSituation,
  code: string,
  message: string,
  remedy: string,
  ...earlier: readonly (EvidenceStep | null)[]
): Finding {
  const evidence = [...earlier.filter((one) => one !== null), evidenceOf(step)]
  return { code, message, evidence, remedy }
}
