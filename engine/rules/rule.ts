// What a rule is, what it is asked, and what it may answer.
import type { Behavior, EvidenceStep, JsonMap, Rule, Step } from '@svc/schemas'
import type { ParamsSchema, TargetFilter, ValueOf } from './params.js'

export type Scope = 'agent_registration' | 'step_execution' | 'task_execution'
export type Category = Rule['category']

/** The two answers that are not a violation. Not applicable passes a policy, but not a `not` or an `any_of`. */
export const PASS = 0
export const NOT_APPLICABLE = 1

/** A violation: why, which steps caused it, and what would allow the step. Messages never quote payload values. */
export interface Violation {
  readonly code: string
  readonly message: string
  readonly evidence: readonly EvidenceStep[]
  readonly remedy?: string
  /** Steps that would allow this one once they are recorded, where parameters alone decide what they look like. */
  readonly remedy_steps?: readonly Behavior[]
}

export type Answer = typeof PASS | typeof NOT_APPLICABLE | Violation

/**
 * What a rule found could not be judged: the policy is violated, whatever `not` and `any_of` around the rule would make of
 * a violation.
 */
export class Unjudgeable extends Error {
  readonly violation: Violation
  constructor(violation: Violation) {
    super(violation.message)
    this.violation = violation
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
export interface RuleContext {
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
export type Check = CheckOf<RuleContext>

export interface CheckOf<S extends RuleContext> {
  (context: S): Answer
  /** Asked only when the rule passed inside a violated `not`; left out where this step alone decides. */
  readonly because?: (context: S) => PassCause
}

/** What a rule sees that cannot be used at registration: there always is a step. */
export interface StepContext extends RuleContext {
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
  readonly valid: boolean
  readonly track: <S>(tracker: Tracker<S>) => Slot<S>
}

/** What is said of a rule to those who write policies. */
export interface RuleDescription {
  readonly name: string
  readonly category: Category
  readonly scopes: readonly Scope[]
  /** JSON Schema of the parameters; the target filter is added where the rule takes one. */
  readonly params: ParamsSchema
  readonly doc: string
  readonly example: JsonMap
  readonly targets: Targets
}

/** Whether a rule takes the target filter; `writes`: its verbs default to the writing verbs, and step.exec is a target too. */
type Targets = boolean | 'writes'

/** A rule that is not a combinator, with any parameters. */
export interface LeafRule extends RuleDescription {
  /** The only step types that the rule can be applicable to; left out where it can be applicable to any. */
  readonly applicableTypes?: (params: JsonMap) => readonly string[]
  readonly compile: (params: JsonMap, environment: CompileEnvironment) => Check
}

interface RuleOf<S extends ParamsSchema, T extends Targets, C extends RuleContext> extends RuleDescription {
  readonly params: S
  readonly targets: T
  readonly example: ParamsOf<S, T> & JsonMap
  readonly applicableTypes?: (params: ParamsOf<S, T>) => readonly string[]
  readonly compile: (params: ParamsOf<S, T>, environment: CompileEnvironment) => CheckOf<C>
}

type ParamsOf<S, T> = T extends false ? ValueOf<S> : ValueOf<S> & TargetFilter

/** A rule for a list of rules: `compileRule` checks parameters against the schema before it passes them on. */
export function defineRule<const S extends ParamsSchema, const T extends Targets>(
  definition: RuleOf<S, T, RuleContext>,
): LeafRule {
  return definition as unknown as LeafRule
}

/** A rule about steps: its scopes leave out registration, the only evaluation without a step. */
export function defineStepRule<const S extends ParamsSchema, const T extends Targets>(
  definition: RuleOf<S, T, StepContext>,
): LeafRule {
  return definition as unknown as LeafRule
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
  { step }: StepContext,
  code: string,
  message: string,
  remedy: string,
  ...earlier: readonly (EvidenceStep | null)[]
): Violation {
  const evidence = [...earlier.filter((one) => one !== null), evidenceOf(step)]
  return { code, message, evidence, remedy }
}
