// Rules and their parameters in words, for readers who do not know YAML. Text in backticks is to be set as code.
import type { JsonMap } from '@svc/schemas'
import { isCombinator } from '../../rules/compound/compound.js'
import type { Condition } from '../../rules/compound/condition.js'
import { type Selector, type StepKind, type TargetFilter, targetKeys } from '../../rules/form/params.js'
import type { Scope } from '../../rules/form/rule.js'
import { leafRules, rules } from '../../rules/registry.js'
import { targetPattern } from '../../rules/selection/filter.js'
import { kindWords, patternWords, selectorPattern } from '../../rules/selection/kind.js'

/** A rule of a policy; the conditions of a compound rule follow it, one level deeper. */
export interface RuleWords {
  readonly depth: number
  readonly rule_type: string
  readonly doc: string
  readonly params: readonly ParamWords[]
  /** The steps that a condition is about; null for the rule of the policy itself and where it adds nothing. */
  readonly applies_to: string | null
}

export interface ParamWords {
  readonly name: string
  /** The meaning of the parameter. */
  readonly meaning: string
  readonly value: string
}

/** Deeper conditions are left out: no reader follows them, and a hostile manifest has a thousand levels. */
export const maxShownDepth = 12

/** The rule, and all conditions of a compound rule down to `maxShownDepth`. */
export function ruleWords(root: Condition): RuleWords[] {
  const found: RuleWords[] = []
  const pending = [{ node: root, depth: 0 }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { node, depth } = next
    const words = targetWords(node)
    found.push({ ...ownWords(node), depth, applies_to: depth === 0 || words === everyStep ? null : words })
    if (depth < maxShownDepth)
      for (const child of conditionsOf(node).toReversed()) pending.push({ node: child, depth: depth + 1 })
  }
  return found
}

function conditionsOf({ rule_type, params = {} }: Condition): readonly Condition[] {
  if (!isCombinator(rule_type)) return []
  return (rule_type === 'not' ? [params.condition] : params.conditions) as readonly Condition[]
}

function ownWords({ rule_type, params = {} }: Condition): Pick<RuleWords, 'rule_type' | 'doc' | 'params'> {
  const rule = rules.find(({ name }) => name === rule_type)
  const schemas = (rule?.params.properties ?? {}) as Readonly<Record<string, JsonMap>>
  const own = isCombinator(rule_type) ? [] : Object.entries(params).filter(([name]) => !isTarget(name))
  const words = own.map(([name, value]) => {
    return { name, meaning: meaningOf(schemas[name]), value: valueWords(name, value) }
  })
  return { rule_type, doc: rule?.doc ?? '', params: words }
}

function isTarget(name: string): boolean {
  return (targetKeys as readonly string[]).includes(name)
}

/** The description without its explanation of the notation. */
function meaningOf({ description }: JsonMap = {}): string {
  return typeof description === 'string'
    ? (description.split(/: (?:a step type|field path)|; default|, such as/)[0] ?? '')
    : ''
}

const isFilter = (name: string) => name.endsWith('_filter')
const isKind = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

function valueWords(name: string, value: unknown): string {
  if (isFilter(name)) return patternWords({ filter: value as JsonMap })
  if (isKind(value)) return kindWords(value as Selector, 'steps')
  if (Array.isArray(value))
    return value.map((item) => (isKind(item) ? kindWords(item as StepKind, 'steps') : code(item))).join(', ')
  return code(value)
}

/** Stands for a backtick in a value, because a backtick ends the code; a private character, which no name has. */
export const backtick = '\uE000'

/** Not cut, unlike a quotation in a message: the document is the place where a long pattern is read. */
function code(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return `\`${text.replaceAll('`', backtick)}\``
}

const everyStep = 'every step'

/** The subject of a policy: the steps of its target, the finished task, or the agent at its registration. */
export function appliesTo(scope: Scope, root: Condition): string {
  if (scope === 'agent_registration') return 'agents when they register'
  if (scope === 'task_execution') return 'the whole task when it ends'
  return isCombinator(root.rule_type) ? 'the steps that its conditions name' : targetWords(root)
}

/** The steps that a rule is about: its target, else the steps that it counts or forbids. */
function targetWords({ rule_type, params = {} }: Condition): string {
  const target = params as TargetFilter
  const { step_types, verbs, step_names, filter } = targetPattern(target)
  const selector = { step_types, verbs, step_names, property_filter: filter } as Selector
  const isGiven = Object.values(selector).some((member) => member !== undefined)
  const kind = isGiven ? selector : subjectOf(rule_type, params)
  const steps = kind === null ? everyStep : kindWords(kind, 'steps')
  if (target.target_after === undefined) return steps
  return `${steps}, after ${patternWords(selectorPattern(target.target_after))} in the same task`
}

/** The parameters that name the evaluated step of rules that are not applicable to any other. */
const subjects = ['step_type', 'forbidden_step_type', 'forbidden_node_type', 'sink', 'forbidden_sequence'] as const

function subjectOf(rule_type: string, params: JsonMap): StepKind | null {
  const rule = leafRules.find(({ name }) => name === rule_type)
  if (rule?.category === 'path' && rule_type !== 'sequence_forbidden') return null
  const [given] = subjects.flatMap((name) => (params[name] === undefined ? [] : [params[name]]))
  return given === undefined ? null : ((Array.isArray(given) ? given.at(-1) : given) as StepKind)
}
