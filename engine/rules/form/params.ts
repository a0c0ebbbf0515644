// The parameters of a rule: one JSON Schema, from which their type follows, and the parts that several schemas share.
// `x-editor` names the definition of such a part in the schema for editors (engine/manifest/editor/rule-schemas.ts).
import type { JsonMap } from '@svc/schemas'

/** Schema of a rule's parameters. */
export interface ParamsSchema extends JsonMap {
  readonly type: 'object'
  readonly required?: readonly string[]
  readonly additionalProperties: false
  readonly properties: Readonly<Record<string, JsonMap>>
}

/** The type of the values that a schema accepts; `never` for a form of schema that no rule uses. */
export type ValueOf<S> = S extends { readonly type: readonly ['string', 'object']; readonly properties: infer P }
  ? string | MembersOf<P>
  : S extends { readonly enum: readonly (infer V)[] }
    ? V
    : S extends { readonly type: keyof Scalars }
      ? Scalars[S['type']]
      : S extends { readonly type: 'array'; readonly items: infer I }
        ? readonly ValueOf<I>[]
        : S extends { readonly type: 'array' }
          ? readonly unknown[]
          : S extends { readonly type: 'object'; readonly properties: infer P }
            ? MembersOf<P, S extends { readonly required: readonly (infer K)[] } ? K : never>
            : S extends { readonly type: 'object' }
              ? JsonMap
              : never

interface Scalars {
  readonly string: string
  readonly number: number
  readonly integer: number
  readonly boolean: boolean
}

/** The type of an object with these members, of which `K` are required. */
export type MembersOf<P, K = never> = {
  readonly [N in keyof P as N extends K ? N : never]: ValueOf<P[N]>
} & {
  readonly [N in keyof P as N extends K ? never : N]?: ValueOf<P[N]>
}

export const stepType = {
  type: 'string',
  minLength: 1,
  'x-editor': 'step_type',
  description: 'a step type, such as `step.resource`',
} as const
export const stepTypes = { type: 'array', items: stepType, minItems: 1 } as const
export const verbSchema = {
  type: 'string',
  enum: ['GET', 'POST', 'PATCH', 'DELETE'],
  description: 'only steps with this verb; default every verb',
} as const
export const verbNames = {
  type: 'array',
  items: { type: 'string', minLength: 1, 'x-editor': 'verb' },
  minItems: 1,
  description: 'one of these verbs: GET, POST, PATCH or DELETE',
} as const
/** A path to a value of the step, its context or its agent. */
export const fieldPath = {
  type: 'string',
  minLength: 1,
  'x-editor': 'field',
  description: 'field path, such as `input.path`',
} as const
export const fieldPaths = { type: 'array', items: fieldPath, minItems: 1 } as const
export const names = { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 } as const

/** Field path to wanted value. */
export const filterSchema = {
  type: 'object',
  'x-editor': 'filter',
  description:
    'field path: wanted value; a list means one of, null means missing; {present: true}, {min, max}, {matches: pattern} and {not: value} are conditions; one element of a list in the step is enough; {} matches all',
} as const

const selectorMembers = {
  step_types: { ...stepTypes, description: 'one of these step types' },
  verbs: verbNames,
  step_names: { ...names, description: 'one of these names of a tool, model or operation' },
  property_filter: { ...filterSchema, description: `only steps with these fields: ${filterSchema.description}` },
} as const

/** Selects steps by their members; a member that is left out selects all. */
export const selector = {
  type: 'object',
  'x-editor': 'selector',
  additionalProperties: false,
  properties: selectorMembers,
} as const

export type Selector = ValueOf<typeof selector>

/** A step type, or a selector such as `{step_names: [pay], verbs: [POST]}`. */
export const stepKind = {
  ...selector,
  type: ['string', 'object'],
  'x-editor': 'step_kind',
  minLength: 1,
  description: 'a step type, such as `step.resource`, or a selector {step_types, verbs, step_names, property_filter}',
} as const
export const stepKinds = { type: 'array', items: stepKind, minItems: 1 } as const

export type StepKind = ValueOf<typeof stepKind>

/** The parameters that every step rule takes besides its own. */
export const targetSchema = {
  target_step_types: { ...stepTypes, description: 'apply to these step types only; default every type' },
  target_verb: { type: 'string', 'x-editor': 'verb', description: 'apply to this verb only; default every verb' },
  target_verbs: { ...verbNames, description: 'apply to these verbs only; default every verb' },
  target_step_names: { ...names, description: 'apply to steps of these names only; default every name' },
  target_property_filter: {
    ...filterSchema,
    description: `apply to steps with these fields only: ${filterSchema.description}`,
  },
  target_after: { ...selector, description: 'apply only after such a step in the same task; default always' },
} as const

export type TargetFilter = MembersOf<typeof targetSchema>

export const targetKeys = Object.keys(targetSchema) as readonly (keyof TargetFilter)[]
