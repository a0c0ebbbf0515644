// The list of rules. A new rule is one definition and one case file; no other file names it.
import type { Rule } from '@svc/schemas'
import { classificationRules } from './classification.js'
import { compoundRules } from './compound/compound.js'
import { contentRules } from './content.js'
import { countRules } from './count.js'
import { fieldRules } from './field.js'
import { flowRules } from './flow.js'
import { type ParamsSchema, targetSchema } from './form/params.js'
import type { LeafRule, RuleDescription } from './form/rule.js'
import { type Direction, targetDirections, writingTargetDirections } from './form/stricter.js'
import { gateRules } from './gate.js'
import { nodeRules } from './node.js'
import { pathRules } from './path.js'
import { predecessorRules } from './predecessor.js'
import { stoppedRules } from './stopped.js'
import { valueFlowRules } from './value-flow.js'
import { valueFromRules } from './value-from.js'

/** The rules that are not combinators. */
export const leafRules: readonly LeafRule[] = [
  ...fieldRules,
  ...predecessorRules,
  ...gateRules,
  ...pathRules,
  ...countRules,
  ...classificationRules,
  ...contentRules,
  ...flowRules,
  ...stoppedRules,
  ...valueFlowRules,
  ...valueFromRules,
  ...nodeRules,
]

/** Every rule, as `svc rules` and the rules endpoint print it. */
export const rules: readonly Rule[] = [...leafRules, ...compoundRules].map((rule) => ({
  name: rule.name,
  category: rule.category,
  scopes: [...rule.scopes],
  params: paramsSchema(rule),
  doc: rule.doc,
  example: rule.example,
}))

const byName: ReadonlyMap<string, RuleDescription> = new Map(
  [...leafRules, ...compoundRules].map((rule) => [rule.name, rule]),
)

/** The description of a rule; undefined for an unknown one. */
export function ruleNamed(rule_type: string): RuleDescription | undefined {
  return byName.get(rule_type)
}

/** The stricter direction of each parameter of a rule, those of its target included. */
export function directionsOf({ targets, stricter }: RuleDescription): Readonly<Record<string, Direction>> {
  if (targets === false) return stricter
  return { ...targetDirections, ...(targets === 'writes' && writingTargetDirections), ...stricter }
}

/** Schema of a rule's parameters, the target filter included where the rule takes one. */
export function paramsSchema(rule: RuleDescription): ParamsSchema {
  if (!rule.targets) return rule.params
  return { ...rule.params, properties: { ...rule.params.properties, ...targetSchema } }
}
