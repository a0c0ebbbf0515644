// Choosing steps: property filters, and the target filter that every step rule has (engine.md §1, §3).
import { canonicalType, type JsonMap, type Step } from '../steps.js'
import { AmbiguousField, compileField, compileStepField, sameJson } from './lookup.js'
import { type Check, NOT_APPLICABLE, type Situation } from './rule.js'

/** Schema of a filter: field path to wanted value; a list means one of, null means missing. */
export const filterSchema: JsonMap = {
  type: 'object',
  description: 'field path: wanted value; a list means one of, null means missing, {} matches all',
}

const stringList: JsonMap = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 }

/** The parameters every step rule takes besides its own. */
export const targetSchema: JsonMap = {
  target_step_types: { ...stringList, description: 'apply to these step types only' },
  target_verb: { type: 'string', description: 'apply to this verb only' },
  target_verbs: { ...stringList, description: 'apply to these verbs only' },
  target_step_names: { ...stringList, description: 'apply to steps of these names only' },
  target_property_filter: { ...filterSchema, description: 'apply to steps with these fields only' },
}

export interface TargetFilter {
  readonly target_step_types?: readonly string[]
  readonly target_verb?: string
  readonly target_verbs?: readonly string[]
  readonly target_step_names?: readonly string[]
  readonly target_property_filter?: JsonMap
}

export const targetKeys = Object.keys(targetSchema) as readonly (keyof TargetFilter)[]

/** What a step must be to be meant: a type, and perhaps a verb and some fields. */
export interface StepPattern {
  readonly step_type: string
  readonly verb?: string | undefined
  readonly filter?: JsonMap | undefined
  /** What a step counts as when its fields are ambiguous: true where matching is held against it. */
  readonly when_ambiguous: boolean
}

/** A predicate over recorded steps. Throws ParameterError for a filter path that is none. */
export function compilePattern(pattern: StepPattern, parameter: string): (step: Step) => boolean {
  const type = canonicalType(pattern.step_type)
  const conditions = Object.entries(pattern.filter ?? {}).map(([path, wanted]) => {
    const get = compileStepField(path, parameter)
    const accepts = acceptor(path, wanted)
    return (step: Step) => accepts(get(step))
  })
  return (step) => {
    if (canonicalType(step.step_type) !== type) return false
    if (pattern.verb !== undefined && step.verb !== pattern.verb) return false
    try {
      return conditions.every((holds) => holds(step))
    } catch (error) {
      if (error instanceof AmbiguousField) return pattern.when_ambiguous
      throw error
    }
  }
}

/** Wraps a check so that steps outside the target filter are not applicable. */
export function withTarget(filter: TargetFilter, check: Check): Check {
  const tests: ((situation: Situation, step: Step) => boolean)[] = []
  const types = filter.target_step_types && new Set(filter.target_step_types.map(canonicalType))
  if (types) tests.push((_, step) => types.has(canonicalType(step.step_type)))
  const verbs = targetVerbs(filter)
  if (verbs) tests.push((_, step) => step.verb !== undefined && verbs.has(step.verb))
  const names = filter.target_step_names && new Set(filter.target_step_names)
  if (names) tests.push((_, step) => step.step_name !== undefined && names.has(step.step_name))
  for (const [path, wanted] of Object.entries(filter.target_property_filter ?? {})) {
    const get = compileField(path, 'target_property_filter')
    const accepts = acceptor(path, wanted)
    tests.push((situation) => accepts(get(situation)))
  }
  if (tests.length === 0) return check
  return (situation) => {
    const { step } = situation
    if (step === null) return NOT_APPLICABLE
    for (const test of tests) if (!test(situation, step)) return NOT_APPLICABLE
    return check(situation)
  }
}

function targetVerbs(filter: TargetFilter): Set<string> | null {
  if (filter.target_verb === undefined && filter.target_verbs === undefined) return null
  return new Set([...(filter.target_verbs ?? []), ...(filter.target_verb === undefined ? [] : [filter.target_verb])])
}

/** Strictly equal; a list means one of; null means missing. Step types are compared by their canonical names. */
function acceptor(path: string, wanted: unknown): (value: unknown) => boolean {
  const choices = (Array.isArray(wanted) ? wanted : [wanted]).map((choice: unknown) =>
    path === 'step_type' && typeof choice === 'string' ? canonicalType(choice) : choice,
  )
  return (value) => choices.some((choice) => sameJson(choice, value))
}
