// When a policy passes, is violated, or is not applicable, as formulas: from its leaves up. A formula may be true more often than
// the answer that it describes; that it is impossible is a proof.
import type { JsonMap } from '@svc/schemas'
import { patternOf } from '../rules/compile-rule.js'
import { isCombinator, postOrder } from '../rules/compound.js'
import type { Condition as RuleNode } from '../rules/condition.js'
import { targetPattern } from '../rules/filter.js'
import { selectorPattern } from '../rules/kind.js'
import type { Selector, TargetFilter } from '../rules/params.js'
import { leafRules } from '../rules/registry.js'
import type { Scope } from '../rules/rule.js'
import { all, both, either, type Formula, negation, together } from './formula.js'
import { byName, type LeafFormulas } from './leaf.js'
import { fieldDescriptions } from './leaf-fields.js'
import { historyDescriptions, taskDescriptions } from './leaf-history.js'
import { atLeast, type Fact, field } from './literal.js'
import { factsOfPattern } from './step-facts.js'
import { isOneOf } from './value-test.js'

export interface Region {
  readonly passed: Formula
  readonly violated: Formula
  readonly skipped: Formula
}

/** A rule inside a policy. */
export interface LeafRegion extends Region {
  readonly rule_type: string
  readonly params: JsonMap
  /** Within the parameters of the policy; empty for the rule of the policy. */
  readonly path: string
  /** Only `all_of` is around it, so that its violation violates the policy. */
  readonly is_direct: boolean
  /** The rule exists to forbid steps. */
  readonly forbids: boolean
  /** What is true when it has the answer, as far as it can be listed; also where that is impossible. */
  readonly factsFor: (answer: 'passed' | 'violated' | 'applied') => readonly Fact[]
  /** Why an answer is impossible, where no facts say it. */
  readonly note: string | undefined
}

export interface PolicyRegion extends Region {
  readonly leaves: readonly LeafRegion[]
  /** A `not`, or a rule that forbids, is part of the policy. */
  readonly forbids: boolean
}

const ruleNamed = new Map(leafRules.map((rule) => [rule.name, rule]))

/** The region of a rule or of a tree of rules with valid parameters. `limit` is what else is true wherever it is evaluated. */
export function regionOf(root: RuleNode, scope: Scope, limit: Formula): PolicyRegion {
  const stack: Region[] = []
  const leaves: LeafRegion[] = []
  const nodes = postOrder(root)
  const indirect = nodes.filter(({ node }) => node.rule_type === 'any_of' || node.rule_type === 'not')
  for (const { node, path, arity } of nodes) {
    if (isCombinator(node.rule_type)) {
      stack.push(combined(node.rule_type, stack.splice(-arity)))
      continue
    }
    const leaf = leafRegion(node, scope, limit)
    const is_direct = !indirect.some((outer) => outer.path === '' || path.startsWith(`${outer.path}.`))
    leaves.push({ ...leaf, path, is_direct, rule_type: node.rule_type, params: node.params ?? {} })
    stack.push(leaf)
  }
  const [region = { passed: [], violated: [], skipped: [] }] = stack
  const forbids = nodes.some(({ node }) => node.rule_type === 'not') || leaves.some((leaf) => leaf.forbids)
  return { ...region, leaves, forbids }
}

function combined(kind: 'all_of' | 'any_of' | 'not', children: readonly Region[]): Region {
  const skipped = all(children.map((child) => child.skipped))
  const [first = { passed: [], violated: [], skipped: [] }] = children
  if (kind === 'not') return { passed: first.violated, violated: first.passed, skipped }
  const some = (answer: 'passed' | 'violated') => either(...children.map((child) => child[answer]))
  const each = (answer: 'passed' | 'violated') => all(children.map((child) => either(child[answer], child.skipped)))
  if (kind === 'all_of') return { violated: some('violated'), passed: both(each('passed'), some('passed')), skipped }
  return { passed: some('passed'), violated: both(each('violated'), some('violated')), skipped }
}

function leafRegion({ rule_type, params = {} }: RuleNode, scope: Scope, limit: Formula) {
  const described = describe(rule_type, params, scope)
  const { applies = [[]], passes, fails, forbids = false, note, when_passed = [], when_violated = [] } = described
  const target = both(limit, both(targetOf(rule_type, params), applies))
  const facts = [...limit.flat(), ...targetFacts(rule_type, params), ...(applies.length === 1 ? applies.flat() : [])]
  const answers = { passed: when_passed, violated: when_violated, applied: [] }
  return {
    passed: both(target, passes),
    violated: both(target, fails),
    skipped: either(negation(targetOf(rule_type, params)), negation(applies)),
    forbids,
    note,
    factsFor: (answer: keyof typeof answers) => [...facts, ...answers[answer]],
  }
}

function describe(rule_type: string, params: JsonMap, scope: Scope): LeafFormulas {
  const task = scope === 'task_execution'
  const known = task ? taskDescriptions[rule_type] : (fieldDescriptions[rule_type] ?? historyDescriptions[rule_type])
  if (known === undefined) return byName(`${scope} ${rule_type}`, params)
  return known(params, scope === 'agent_registration')
}

/** The target, and the types that the rule is limited to, as separate facts. */
function targetFacts(rule_type: string, params: JsonMap): Fact[] {
  const rule = ruleNamed.get(rule_type)
  if (rule === undefined) return []
  const target = rule.targets === false ? {} : targetPattern(params as TargetFilter)
  const types = rule.applicableTypes?.(params)
  const after = rule.targets === false ? undefined : (params.target_after as Selector | undefined)
  return [
    ...factsOfPattern(target),
    ...(types === undefined ? [] : factsOfPattern({ step_types: types })),
    ...(after === undefined ? [] : [atLeast(1, factsOfPattern(selectorPattern(after)))]),
  ]
}

/** The steps that the target parameters select; exact. */
function targetOf(rule_type: string, params: JsonMap): Formula {
  const rule = ruleNamed.get(rule_type)
  if (rule === undefined || rule.targets === false) return [[]]
  const { any_verb_for, verbs, ...others } = patternOf(rule, params)
  const facts = factsOfPattern(others)
  const after = params.target_after as Selector | undefined
  const later = after === undefined ? [] : [atLeast(1, factsOfPattern(selectorPattern(after)))]
  const heads = factsOfPattern({ verbs })
  const of_type =
    any_verb_for === undefined ? [] : [field('step_type', { test: isOneOf([any_verb_for], 'whole'), negated: false })]
  return both(together([...facts, ...later]), either(together(heads), ...of_type.map((fact) => together([fact]))))
}
