// The parameters of every rule as definitions of one schema, chosen by the `rule_type` beside them.
import type { JsonMap, Rule } from '@svc/schemas'
import { filterSchema, selector } from '../../rules/form/params.js'
import { rules } from '../../rules/registry.js'
import { knownFields, reference, suggestions, withReferences } from './suggestions.js'

const selectorSnippet = {
  label: 'a selector of steps',
  description: selector.properties.property_filter.description,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the places of a snippet
  bodyText: '{ step_types: [${1:step.resource}], step_names: [${2:refund}] }',
}

/** Definitions for policies and for the conditions of compound rules, to any depth. */
export function ruleDefinitions(): JsonMap {
  const shared = sharedParams()
  return {
    rule_type: {
      anyOf: rules.map(({ name, category, doc }) => ({ const: name, title: `Rule (${category})`, description: doc })),
    },
    params_by_rule: { allOf: rules.map(paramsByRule) },
    condition: condition(),
    ...Object.fromEntries(rules.map((rule) => [paramsName(rule), paramsOf(rule, shared)])),
    ...Object.fromEntries([...shared].map(([name, schema]) => [sharedName(name), withReferences(schema)])),
    // In one schema with both types an editor would write every step type in a line of its own. Of two alternatives that fail
    // alike, an editor explains the first.
    step_kind: { anyOf: [reference('selector'), reference('step_type')], defaultSnippets: [selectorSnippet] },
    selector: definition(selector),
    filter: { type: 'object', properties: knownFields, description: filterSchema.description },
    ...suggestions,
  }
}

/** For each rule, the scopes that a policy with it may have. */
export function scopesByRule(scopeSchema: (scopes: readonly string[]) => JsonMap): JsonMap[] {
  const groups = new Map<string, Rule[]>()
  for (const rule of rules) groups.set(rule.scopes.join(), [...(groups.get(rule.scopes.join()) ?? []), rule])
  return [...groups].map(([scopes, group]) =>
    // An enum here would be listed by editors as the values of `rule_type`.
    when(
      { pattern: `^(${group.map(({ name }) => name).join('|')})$` },
      { properties: { scope: scopeSchema(scopes.split(',')) } },
    ),
  )
}

function paramsByRule(rule: Rule): JsonMap {
  const params = { properties: { params: reference(paramsName(rule)) } }
  const { required = [] } = rule.params as { required?: readonly string[] }
  return when({ const: rule.name }, required.length === 0 ? params : { required: ['params'], ...params })
}

/** A schema for maps whose `rule_type` is such; without a `rule_type` nothing is required. */
function when(rule_type: JsonMap, schema: JsonMap): JsonMap {
  // biome-ignore lint/suspicious/noThenProperty: it is the JSON Schema keyword
  return { if: { type: 'object', required: ['rule_type'], properties: { rule_type } }, then: schema }
}

function condition(): JsonMap {
  return {
    type: 'object',
    title: 'Condition',
    required: ['rule_type'],
    additionalProperties: false,
    properties: { rule_type: reference('rule_type'), params: { type: 'object' } },
    ...reference('params_by_rule'),
  }
}

const paramsName = ({ name }: Rule) => `params_of_${name}`
const sharedName = (param: string) => `param_${param}`

function paramsOf(rule: Rule, shared: ReadonlyMap<string, JsonMap>): JsonMap {
  const { properties, ...own } = rule.params as { properties: Readonly<Record<string, JsonMap>> } & JsonMap
  const members = Object.entries(properties).map(([name, schema]) => [
    name,
    shared.get(name) === schema ? reference(sharedName(name)) : withReferences(schema),
  ])
  return { title: rule.name, description: rule.doc, ...own, properties: Object.fromEntries(members) }
}

/** Parameters that several rules have in common, by their name. */
function sharedParams(): ReadonlyMap<string, JsonMap> {
  const all = rules.flatMap(({ params }) => Object.entries(params.properties as Record<string, JsonMap>))
  return new Map(
    all.filter(([name, schema]) => all.filter((other) => other[0] === name && other[1] === schema).length > 1),
  )
}

/** A part that several parameters share, without the mark that refers to itself. */
function definition({ 'x-editor': _, ...schema }: JsonMap): JsonMap {
  return withReferences(schema) as JsonMap
}
