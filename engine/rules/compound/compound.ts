// all_of, any_of and not (docs/design/engine.md §3, 24–26).
import type { JsonMap } from '@svc/schemas'
import { ParameterError } from '../../check/parameter-error.js'
import type { RuleDescription, Scope } from '../form/rule.js'
import type { Combinator, Condition } from './condition.js'
import { type CompiledTree, compiled, type Leaf, type Node } from './tree.js'

const everyScope: readonly Scope[] = ['agent_registration', 'step_execution', 'task_execution']
const condition = {
  type: 'object',
  required: ['rule_type'],
  additionalProperties: false,
  properties: {
    rule_type: { type: 'string', description: 'name of the rule' },
    params: { type: 'object', description: 'parameters of the rule' },
  },
  'x-editor': 'condition',
}
const conditions = { type: 'array', items: condition, minItems: 1, description: 'rules with their parameters' }
const gate = { rule_type: 'step_requires_gate', params: { max_age_steps: 1 } }
const message = { rule_type: 'history_contains', params: { step_type: 'step.message' } }

export const compoundRules: readonly RuleDescription[] = [
  {
    name: 'all_of',
    category: 'flow',
    scopes: everyScope,
    targets: false,
    params: { type: 'object', required: ['conditions'], additionalProperties: false, properties: { conditions } },
    stricter: { conditions: 'conditions' },
    doc: 'Passes when every applicable condition passes. Usable where all its conditions are.',
    example: { conditions: [gate, message] },
  },
  {
    name: 'any_of',
    category: 'flow',
    scopes: everyScope,
    targets: false,
    params: { type: 'object', required: ['conditions'], additionalProperties: false, properties: { conditions } },
    stricter: { conditions: 'conditions' },
    doc: 'Passes when at least one applicable condition passes. Usable where all its conditions are.',
    example: { conditions: [gate, message] },
  },
  {
    name: 'not',
    category: 'flow',
    scopes: everyScope,
    targets: false,
    params: {
      type: 'object',
      required: ['condition'],
      additionalProperties: false,
      properties: { condition: { ...condition, description: 'a rule with its parameters' } },
    },
    stricter: { condition: 'conditions' },
    doc: 'Passes when its condition is violated; not applicable when its condition is.',
    example: { condition: message },
  },
]

export function isCombinator(rule_type: string): rule_type is Combinator {
  return rule_type === 'all_of' || rule_type === 'any_of' || rule_type === 'not'
}

interface PlacedNode {
  readonly node: Condition
  readonly path: string
  /** The node is below an odd number of `not`: its policy is violated where it passes. */
  readonly negated: boolean
}

/** The nodes of a tree, children before their parents. Throws ParameterError naming the path of a malformed node. */
export function postOrder(root: Condition): (PlacedNode & { readonly arity: number })[] {
  const ordered: (PlacedNode & { readonly arity: number })[] = []
  const pending: PlacedNode[] = [{ node: root, path: '', negated: false }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const negated = next.negated !== (next.node.rule_type === 'not')
    const children = childrenOf(next.node, next.path)
    ordered.push({ ...next, arity: children.length })
    for (const child of children) pending.push({ ...child, negated })
  }
  return ordered.reverse()
}

function childrenOf(node: Condition, path: string): { node: Condition; path: string }[] {
  if (!isCombinator(node.rule_type)) return []
  const key = node.rule_type === 'not' ? 'condition' : 'conditions'
  const within = path === '' ? '' : `${path}.params.`
  const here = `${within}${key}`
  const params = node.params ?? {}
  const extra = Object.keys(params).find((name) => name !== key)
  if (extra !== undefined)
    throw new ParameterError(`${within}${extra}`, `unknown parameter \`${extra}\` of \`${node.rule_type}\``, {
      fault: 'unknown',
      at_key: true,
    })
  const given = params[key]
  if (node.rule_type === 'not') return [{ node: asCondition(given, here), path: here }]
  if (!Array.isArray(given) || given.length === 0)
    throw new ParameterError(here, `\`${node.rule_type}\` needs a list of at least one condition`)
  return given.map((child, index) => ({ node: asCondition(child, `${here}.${index}`), path: `${here}.${index}` }))
}

function asCondition(value: unknown, path: string): Condition {
  const shape = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : null
  if (shape === null)
    throw new ParameterError(path, 'a condition must be an object with `rule_type` and `params`', {
      fault: 'type',
    })
  const { rule_type, params, ...rest } = shape
  const [extra] = Object.keys(rest)
  if (extra !== undefined)
    throw new ParameterError(
      `${path}.${extra}`,
      `unknown key \`${extra}\`; a condition has \`rule_type\` and \`params\``,
      { fault: 'unknown', at_key: true },
    )
  if (typeof rule_type !== 'string')
    throw new ParameterError(`${path}.rule_type`, '`rule_type` is missing', {
      fault: 'missing',
    })
  if (params === undefined) return { rule_type }
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    throw new ParameterError(`${path}.params`, '`params` must be an object', { fault: 'type' })
  return { rule_type, params: params as JsonMap }
}

/** The scopes that all leaves of a tree share. */
export function sharedScopes(of: readonly (readonly Scope[])[]): Scope[] {
  const [first = [], ...rest] = of
  return first.filter((scope) => rest.every((scopes) => scopes.includes(scope)))
}

/** Compiles a tree; `leaf` compiles each rule that is not a combinator. */
export function compileTree(root: Condition, leaf: (placed: PlacedNode) => Leaf): CompiledTree {
  return compiled(
    postOrder(root).map(({ arity, ...placed }): Node => {
      const { node } = placed
      return isCombinator(node.rule_type) ? { kind: node.rule_type, arity } : { ...leaf(placed), kind: 'leaf', node }
    }),
  )
}
