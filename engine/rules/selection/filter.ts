// Selects steps: property filters, and the target filter that every step rule has (docs/design/engine.md §1, §3).
import { canonicalType, type JsonMap, type Step } from '@svc/schemas'
import type { TargetFilter } from '../form/params.js'
import { type Check, NOT_APPLICABLE, type RuleContext } from '../form/rule.js'
import { AmbiguousField } from '../values/members.js'
import { acceptor } from './filter-value.js'
import { compileField, compileStepField } from './lookup.js'

/** A selection of steps; a member that is left out selects all. */
export interface StepPattern {
  readonly step_types?: readonly string[] | undefined
  readonly verbs?: readonly string[] | undefined
  readonly step_names?: readonly string[] | undefined
  readonly filter?: JsonMap | undefined
  /** Steps of this type are selected with any verb. */
  readonly any_verb_for?: string
}

/**
 * A predicate over recorded steps, for which there is no context. It returns `when_ambiguous` for a step with ambiguous
 * fields: true where a match is a violation. Throws ParameterError for an invalid filter path.
 */
export function compilePattern(
  pattern: StepPattern,
  when_ambiguous: boolean,
  parameter: string,
): (step: Step) => boolean {
  const conditions = conditionsOf(pattern.filter).map(([path, wanted]) => {
    const get = compileStepField(path, parameter)
    const accepts = acceptor(path, wanted, parameter)
    return (step: Step) => accepts(get(step))
  })
  const tests = [...typeTests(pattern), ...headTests(pattern), ...conditions]
  return (step) => {
    try {
      for (const test of tests) if (!test(step)) return false
      return true
    } catch (error) {
      if (error instanceof AmbiguousField) return when_ambiguous
      throw error
    }
  }
}

/** A predicate over evaluation contexts. Throws AmbiguousField for an ambiguous field, which violates the policy. */
export function compileTarget(
  pattern: StepPattern,
  parameter = 'target_property_filter',
): ((context: RuleContext, step: Step) => boolean) | null {
  const conditions = conditionsOf(pattern.filter).map(([path, wanted]) => {
    const get = compileField(path, parameter)
    const accepts = acceptor(path, wanted, parameter)
    return (_: Step, context: RuleContext) => accepts(get(context))
  })
  const tests: ((step: Step, context: RuleContext) => boolean)[] = [
    ...typeTests(pattern),
    ...headTests(pattern),
    ...conditions,
  ]
  const [first, ...others] = tests
  if (first === undefined) return null
  if (others.length === 0) return (context, step) => first(step, context)
  return (context, step) => {
    for (let index = 0; index < tests.length; index++) if (!tests[index]?.(step, context)) return false
    return true
  }
}

/** True if the pattern selects the type, verb and name of a step; null when it selects all. */
export function compileHead(pattern: StepPattern): ((step: Step) => boolean) | null {
  const tests = [...typeTests(pattern), ...headTests(pattern)]
  return tests.length === 0 ? null : (step) => tests.every((test) => test(step))
}

/** The step types and names that `compileHead` compares with those of a step. */
export function headWords({ step_types = [], step_names = [], any_verb_for }: StepPattern): readonly string[] {
  return [...step_types.map(canonicalType), ...step_names, ...(any_verb_for === undefined ? [] : [any_verb_for])]
}

/** In the order of their fields, so that the order in the file cannot decide whether an ambiguous field is reached. */
function conditionsOf(filter: JsonMap = {}): [string, unknown][] {
  return Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Wraps a check so that steps outside the pattern are not applicable. */
export function withTarget(pattern: StepPattern, check: Check): Check {
  const isTarget = compileTarget(pattern)
  if (isTarget === null) return check
  const targeted = (context: RuleContext) => {
    const { step } = context
    return step !== null && isTarget(context, step) ? check(context) : NOT_APPLICABLE
  }
  return check.because === undefined ? targeted : Object.assign(targeted, { because: check.because })
}

/** The pattern of a rule's target parameters. */
export function targetPattern(filter: TargetFilter): StepPattern {
  const { target_step_types, target_verb, target_verbs, target_step_names, target_property_filter } = filter
  const single = target_verb === undefined ? [] : [target_verb]
  const verbs =
    target_verbs === undefined && target_verb === undefined ? undefined : [...(target_verbs ?? []), ...single]
  return { step_types: target_step_types, verbs, step_names: target_step_names, filter: target_property_filter }
}

type Test = (step: Step) => boolean

function typeTests({ step_types }: StepPattern): Test[] {
  if (step_types === undefined) return []
  const [only, ...others] = step_types.map(canonicalType)
  if (only !== undefined && others.length === 0) return [(step) => canonicalType(step.step_type) === only]
  const types = new Set(step_types.map(canonicalType))
  return [(step) => types.has(canonicalType(step.step_type))]
}

function headTests({ verbs, step_names, any_verb_for }: StepPattern): Test[] {
  const wanted = verbs && new Set(verbs)
  const names = step_names && new Set(step_names)
  return [
    ...(wanted
      ? [
          (step: Step) =>
            (step.verb !== undefined && wanted.has(step.verb)) || canonicalType(step.step_type) === any_verb_for,
        ]
      : []),
    ...(names ? [(step: Step) => step.step_name !== undefined && names.has(step.step_name)] : []),
  ]
}
