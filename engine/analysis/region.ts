// The conditions under which a policy passes, is violated, or is not applicable, as formulas: from its leaves up. A formula may
// be true more often than the answer that it describes; that it is impossible is a proof.
import type { JsonMap } from '@svc/schemas'
import { patternOf } from '../rules/compile-rule.js'
import { isCombinator, postOrder } from '../rules/compound/compound.js'
import type { Condition as RuleNode } from '../rules/compound/condition.js'
import type { Selector, TargetFilter } from '../rules/form/params.js'
import type { Scope } from '../rules/form/rule.js'
import { leafRules } from '../rules/registry.js'
import { targetPattern } from '../rules/selection/filter.js'
import { selectorPattern } from '../rules/selection/kind.js'
import { conflictIn } from './conflict.js'
import { all, always, both, either, type Formula, negation, type Together, together } from './formula.js'
import { fieldDescriptions, type LeafFacts, open } from './leaf-fields.js'
import { historyDescriptions, taskDescriptions } from './leaf-history.js'
import { atLeast, type Fact, field } from './literal.js'
import { factsOfPattern } from './step-facts.js'
import { isOneOf } from './value-test.js'

export interface Region {
  readonly passed: Formula
  readonly violated: Formula
  readonly skipped: Formula
  /** Facts that exclude each other, where an answer is impossible. */
  readonly because: Readonly<Record<Answer, readonly Fact[] | null>>
}

export type Answer = 'applied' | 'passed' | 'violated'

export interface PolicyRegion extends Region {
  /** A `not`, or a rule that forbids, is part of the policy. */
  readonly forbids: boolean
}

const ruleNamed = new Map(leafRules.map((rule) => [rule.name, rule]))

/** The region of a rule or of a tree of rules with valid parameters. `limit` is what else is true wherever it is evaluated. */
export function regionOf(root: RuleNode, scope: Scope, limit: Together): PolicyRegion {
  const stack: Region[] = []
  let forbids = false
  for (const { node, arity } of postOrder(root)) {
    if (isCombinator(node.rule_type)) {
      forbids ||= node.rule_type === 'not'
      stack.push(combined(node.rule_type, stack.splice(-arity)))
      continue
    }
    const described = describe(node.rule_type, node.params ?? {}, scope)
    forbids ||= described.forbids ?? false
    stack.push(leafRegion(described, targetOf(node.rule_type, node.params ?? {}), limit))
  }
  return { ...(stack[0] as Region), forbids }
}

function combined(kind: 'all_of' | 'any_of' | 'not', children: readonly Region[]): Region {
  if (kind === 'not') return inverted(children[0] as Region)
  if (kind === 'any_of') return inverted(combined('all_of', children.map(inverted)))
  const why = (answer: Answer) => children.map(({ because }) => because[answer]).find((facts) => facts !== null) ?? null
  const none_violated = all(children.map(({ passed, skipped }) => either(passed, skipped)))
  return {
    passed: both(none_violated, either(...children.map(({ passed }) => passed))),
    violated: either(...children.map(({ violated }) => violated)),
    skipped: all(children.map(({ skipped }) => skipped)),
    because: { applied: why('applied'), passed: why('passed'), violated: why('violated') },
  }
}

function inverted({ passed, violated, skipped, because }: Region): Region {
  const swapped = { ...because, passed: because.violated, violated: because.passed }
  return { passed: violated, violated: passed, skipped, because: swapped }
}

function leafRegion(described: LeafFacts, target: readonly Together[], limit: Together): Region {
  const { applies = [], may_skip, passes, fails } = described
  const inside = target.map((facts) => [...limit, ...facts, ...applies])
  const [passed, violated] = [selected(inside, passes), selected(inside, fails)]
  const outside = (lists: readonly Together[]) => negation(either(...lists.map(together)))
  return {
    passed: passed.formula,
    violated: violated.formula,
    skipped: may_skip ? always : either(outside(target), outside([applies])),
    because: {
      applied: conflictIn(inside[0] ?? []),
      passed: passed.because,
      violated: violated.because,
    },
  }
}

/** Any of the first with any of the second. */
function selected(first: readonly Together[], second: readonly Together[]) {
  const lists = first.flatMap((a) => second.map((b) => [...a, ...b]))
  const conflicts = lists.map((facts) => conflictIn(facts))
  const formula = lists.filter((_, index) => conflicts[index] === null)
  return { formula: formula.some((facts) => facts.length === 0) ? always : formula, because: conflicts[0] ?? null }
}

function describe(rule_type: string, params: JsonMap, scope: Scope): LeafFacts {
  const known =
    scope === 'task_execution'
      ? taskDescriptions[rule_type]
      : (fieldDescriptions[rule_type] ?? historyDescriptions[rule_type])
  return known?.(params, scope === 'agent_registration') ?? { may_skip: true, passes: open, fails: open }
}

/** The steps that the target parameters select; exact. */
function targetOf(rule_type: string, params: JsonMap): readonly Together[] {
  const rule = ruleNamed.get(rule_type)
  if (rule === undefined || rule.targets === false) return [[]]
  const { any_verb_for, verbs } = patternOf(rule, params)
  const after = params.target_after as Selector | undefined
  const facts = [
    ...factsOfPattern({ ...targetPattern(params as TargetFilter), verbs: undefined }),
    ...factsOfPattern({ step_types: rule.applicableTypes?.(params) }),
    ...(after === undefined ? [] : [atLeast(1, factsOfPattern(selectorPattern(after)))]),
  ]
  const of_type =
    any_verb_for === undefined ? [] : [field('step_type', { test: isOneOf([any_verb_for]), negated: false })]
  return [[...factsOfPattern({ verbs }), ...facts], ...of_type.map((fact) => [fact, ...facts])]
}
