// Kinds of steps as facts about their fields, and how kinds relate.
import { canonicalType, type JsonMap, verbsOf } from '@svc/schemas'
import type { StepKind } from '../rules/form/params.js'
import type { StepPattern } from '../rules/selection/filter.js'
import { kindPattern } from '../rules/selection/kind.js'
import { choicesOf, type FieldFact, field, opposite, type StepFacts } from './literal.js'
import { factPath, universeOf } from './universe.js'
import { type Condition, filterConditions, isOneOf, meets } from './value-test.js'
import { isImpossible } from './values.js'

/** The facts of a pattern; those of a filter last. */
export function factsOfPattern({ step_types, verbs, step_names, filter = {} }: StepPattern): FieldFact[] {
  const oneOf = (path: string, values: readonly string[] | undefined) =>
    values === undefined ? [] : [field(path, { test: isOneOf(values), negated: false })]
  return [
    ...oneOf('step_type', step_types?.map(canonicalType)),
    ...oneOf('verb', verbs),
    ...oneOf('step_name', step_names),
    ...Object.entries(filter).flatMap(([path, wanted]) =>
      filterConditions(path, wanted).map((condition) => field(factPath(path), condition)),
    ),
  ]
}

export function factsOfKind(kind: unknown, verb?: unknown, filter?: unknown): FieldFact[] {
  const narrowing = { verb: verb as string | undefined, filter: filter as JsonMap | undefined }
  return factsOfPattern(kindPattern(kind as StepKind, narrowing))
}

export function gateFacts(check_type: unknown): FieldFact[] {
  return factsOfKind('step.gate', undefined, check_type === undefined ? {} : { 'guard.check_type': check_type })
}

/** Facts of one step that cannot all be true; null when they may be. Only these paths are looked at, when given. */
export function conflictOfFields(
  facts: readonly FieldFact[],
  paths: ReadonlySet<string> = new Set(facts.map(({ path }) => path)),
): readonly FieldFact[] | null {
  const at = (path: string) => facts.filter((fact) => fact.path === path)
  for (const path of paths) if (isImpossible(at(path), universeOf(path))) return at(path)
  return paths.has('step_type') || paths.has('verb') ? conflictOfVerb(at('step_type'), at('verb')) : null
}

const knownTypes = Object.keys(verbsOf) as (keyof typeof verbsOf)[]

/** A step type and a verb that steps of this type do not have (`svc steps`). */
function conflictOfVerb(types: readonly FieldFact[], verbs: readonly FieldFact[]): readonly FieldFact[] | null {
  // A step type of the author's own can have any verb.
  const is_known = (value: unknown) => knownTypes.some((type) => type === value)
  if (verbs.length === 0 || !types.some((fact) => choicesOf(fact)?.every(is_known))) return null
  const fits = (conditions: readonly Condition[], value: unknown) => conditions.every((one) => meets(one, value))
  const possible = knownTypes.some(
    (type) => fits(types, type) && [null, ...verbsOf[type]].some((verb) => fits(verbs, verb)),
  )
  return possible ? null : [...types, ...verbs]
}

/** True when every step of the first kind is of the second. */
export function isWithinKind(kind: StepFacts, other: StepFacts): boolean {
  const excludes = (fact: FieldFact) => conflictOfFields([...kind, fact], new Set([fact.path])) !== null
  return other.every((fact) => kind.some(({ key }) => key === fact.key) || excludes(opposite(fact) as FieldFact))
}

export function kindsOverlap(kind: StepFacts, other: StepFacts): boolean {
  return conflictOfFields([...kind, ...other]) === null
}

/** The only step types of the kind; null when it may have any. */
export function typesOfKind(kind: StepFacts): readonly unknown[] | null {
  return (
    kind
      .filter(({ path }) => path === 'step_type')
      .map(choicesOf)
      .find((types) => types !== null) ?? null
  )
}
