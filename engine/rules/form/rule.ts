// The form of a rule, the context it evaluates, and its answers.
import type { Behavior, EvidenceStep, JsonMap, Rule, Step } from '@svc/schemas'
import type { Search } from '../../pattern/pattern.js'
import type { OthersLabel } from '../taint/labels.js'
import type { StepTexts } from '../taint/recorded-text.js'
import type { ParamsSchema, TargetFilter, ValueOf } from './params.js'
import type { Direction, Directions, TargetDirections } from './stricter.js'

export type Scope = 'agent_registration' | 'step_execution' | 'task_execution'
export type Category = Rule['category']

/** The answers that are not a violation. NOT_APPLICABLE passes a policy, but not a `not` or an `any_of`. */
export const PASS = 0
export const NOT_APPLICABLE = 1

/** A violation: the reason, the steps that caused it, and the remedy. Messages never quote payload values. */
export interface Violation {
  readonly code: string
  readonly message: string
  readonly evidence: readonly EvidenceStep[]
  readonly remedy?: string
  /** Steps that allow this one once they are recorded, where the parameters alone determine them. */
  readonly remedy_steps?: readonly Behavior[]
  /** The field of the agent that the message is about: a compound rule does not name it again. */
  readonly about?: string
  /**
   * The reason why only this step violates the rule and steps like it pass after it, as a main clause; null where they do not.
   * It reads the step, so that only `any_of` calls it, which proposes no such step.
   */
  readonly once?: () => string | null
}

export type Answer = typeof PASS | typeof NOT_APPLICABLE | Violation

/** A rule cannot be evaluated: the policy is violated, even inside a `not` or an `any_of`. */
export class CannotEvaluate extends Error {
  readonly code = 'CANNOT_EVALUATE'
  readonly violation: Violation
  constructor(violation: Violation) {
    super(violation.message)
    this.violation = violation
  }
}

/** A step that has happened. `position` is 1-based within the history, `at` is milliseconds since 1970. */
export interface Recorded {
  readonly texts: StepTexts
  readonly step: Step
  readonly type: string
  readonly position: number
  readonly at: number
}

/** The history of a task as running indexes: one state per tracker. */
export interface History {
  /** The tools that the task declares: fixed at its start, only shrinking; null when it declares none. */
  tools: readonly unknown[] | null
  /** The least trusted label of the content of others that the task has received; null before the first. */
  others: OthersLabel | null
  /** Steps that count: recorded and not blocked. */
  length: number
  /** The last task.end or task.error; null before the first. */
  end: EvidenceStep | null
  /** A task.end was recorded, and since then nothing but ends: its task rules have been evaluated. */
  finished: boolean
  readonly states: unknown[]
  /** For each tracker, true if steps are missing that it should have added; null for a whole history. */
  readonly lost: readonly boolean[] | null
  /** Steps that the costly trackers of a replayed task have not all added; null where they add each step at once. */
  readonly deferred: Deferred | null
}

/** Recorded steps, and how many of them each costly tracker has added, by its slot. */
export interface Deferred {
  readonly steps: Recorded[]
  readonly added: number[]
}

/** The evaluation context. `now` is milliseconds since 1970; a registration has no step and an empty history. */
export interface RuleContext {
  readonly step: Step | null
  readonly agent: JsonMap
  /** The facts that field paths under `context` read. */
  readonly context: JsonMap
  readonly history: History
  readonly now: number
  /** The step is recorded, not intended. */
  readonly happened?: boolean
  /** The results of the readings of the policy set in this evaluation, by their index; without it nothing is shared. */
  readonly readings?: unknown[]
}

/** The reason why a rule passed: the steps that made it pass, that it did as a main clause, and how to violate it. */
export interface PassCause {
  readonly evidence: readonly EvidenceStep[]
  readonly fact?: string
  readonly undo?: string
}

/** A compiled rule: pure and synchronous. Everything that depends on the parameters alone is computed before. */
export type Check = CheckOf<RuleContext>

export interface CheckOf<S extends RuleContext> {
  (context: S): Answer
  /** Called only when the rule passed inside a violated `not`; left out where only this step counts. */
  readonly because?: (context: S) => PassCause
}

/** The evaluation context of a rule that cannot be used at registration. */
export interface StepContext extends RuleContext {
  readonly step: Step
}

/** An index of a task that each recorded step updates, so that no rule scans the history. */
export interface Tracker<S> {
  /** Trackers with the same key index the same steps the same way and share one state. */
  readonly key: string
  readonly init: () => S
  readonly add: (state: S, recorded: Recorded) => S
  /**
   * The state after the end of the task, which voids what allows: the gates and approvals before it. Left out where the
   * state forbids, or holds no gate. A costly tracker has none.
   */
  readonly end?: (state: S) => S
  /**
   * Of an index of words, which is worth deferring until a rule reads the state, where few tasks need it: how many the state
   * holds.
   */
  readonly costly?: (state: S) => number
  /** A copy that changes independently of the original; left out where states are never changed in place. */
  readonly copy?: (state: S) => S
}

/** Reads the state of a tracker. */
export interface Slot<S> {
  (history: History): S
  /** Its place in the states of a history. */
  readonly slot: number
}

/** A reading of a context by several rules: computed once for each evaluation. */
export type Reading<T> = (context: RuleContext) => T

/** The readings that the rules of a policy set share. */
export interface Readings {
  /** A reading by its key: rules that give the same key read the same. `undefined` is never a result. */
  readonly once: <T>(key: string, read: Reading<T>) => Reading<T>
  /** The texts of a field in which one of the searches may find its pattern; `keys`: the keys inside it are texts too. */
  readonly search: (
    path: string,
    get: Reading<unknown>,
    keys: boolean,
    searches: readonly Search[],
  ) => Reading<readonly string[]>
}

/** The parts that a rule may use while it is compiled. */
export interface CompileEnvironment {
  readonly scope: Scope
  /** The parameters are known to match the schema of the rule. */
  readonly valid: boolean
  /** The policy blocks or asks: it does so too where the history that it reads is not whole. */
  readonly blocks: boolean
  readonly track: <S>(tracker: Tracker<S>) => Slot<S>
  readonly readings: Readings
}

/** The description of a rule for authors of policies. */
export interface RuleDescription {
  readonly name: string
  readonly category: Category
  readonly scopes: readonly Scope[]
  /** JSON Schema of the parameters; the target filter is added where the rule takes one. */
  readonly params: ParamsSchema
  /** For each parameter of `params`: which change of it is stricter. */
  readonly stricter: Readonly<Record<string, Direction>>
  readonly doc: string
  readonly example: JsonMap
  readonly targets: Targets
  /**
   * Besides its target, the rule reads only the history and the type of the step, never a field. Such a check cannot
   * throw, so that `any_of` may leave it out after a pass.
   */
  readonly readsHistoryOnly?: boolean
  /** Steps that are missing from a history never make the rule pass at a step: it requires them, or does not read them. */
  readonly closedWithoutHistory?: boolean
  /** The rule is applicable to every step of its target and can always be evaluated; true of rules that read only the history. */
  readonly alwaysAnswers?: boolean
  /** Compares what two sets of parameters allow, where the direction of some is `together`. */
  readonly together?: (old: JsonMap, next: JsonMap) => 'same' | 'stricter' | 'looser' | 'changed'
}

/** True if a rule takes the target filter; `writes`: its verbs default to the writing verbs, and step.exec is a target too. */
type Targets = boolean | 'writes'

/** A rule that is not a combinator, with any parameters. */
export interface LeafRule extends RuleDescription {
  /** The only step types that the rule can be applicable to; undefined, or left out, where it can be applicable to any. */
  readonly applicableTypes?: (params: JsonMap) => readonly string[] | undefined
  readonly compile: (params: JsonMap, environment: CompileEnvironment) => Check
}

interface RuleOf<S extends ParamsSchema, T extends Targets, C extends RuleContext>
  extends Omit<RuleDescription, 'together'> {
  readonly params: S
  readonly stricter: Directions<S['properties']> & TargetDirections
  readonly targets: T
  readonly example: ParamsOf<S, T> & JsonMap
  readonly applicableTypes?: (params: ParamsOf<S, T>) => readonly string[] | undefined
  readonly together?: (
    old: ParamsOf<S, T>,
    next: ParamsOf<S, T>,
  ) => ReturnType<NonNullable<RuleDescription['together']>>
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

/** The evaluated step as evidence; its number is null until it is recorded. */
export function evidenceOf(step: Step): EvidenceStep {
  return { step: step.step ?? null, step_type: step.step_type, step_name: step.step_name ?? null }
}

/** A recorded step as evidence, with the number it was logged with, else its position in the history. */
export function evidenceOfRecorded({ step, position }: Recorded): EvidenceStep {
  return { ...evidenceOf(step), step: step.step ?? position }
}

/** An optional step as a list. */
export function present(step: EvidenceStep | null): readonly EvidenceStep[] {
  return step === null ? [] : [step]
}

/** A violation by the evaluated step, after the earlier steps that caused it. */
export function stepViolation(
  { step }: StepContext,
  code: string,
  message: string,
  remedy: string,
  ...earlier: readonly (EvidenceStep | null)[]
): Violation {
  const own = evidenceOf(step)
  const evidence = earlier.length === 0 ? [own] : [...earlier.filter((one) => one !== null), own]
  return { code, message, evidence, remedy }
}
