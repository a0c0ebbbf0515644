// Checks of trees of rules, also without the rules that are not applicable to a step. A tree has at most 1,000 levels
// (depth.ts), which its check calls into one by one.
import type { Step } from '@svc/schemas'
import { type Check, NOT_APPLICABLE, PASS, type RuleContext, type Violation } from '../form/rule.js'
import { type Both, bothIn, bothOfLeaf, everyOf, someOf } from './cause.js'
import type { Combinator, Condition } from './condition.js'

/** A rule that is not a combinator. */
export interface Leaf {
  /** True if the rule can be applicable to a step of this type, verb and name; null when it can be applicable to any. */
  readonly head: ((step: Step) => boolean) | null
  /** The types and names that `head` compares: other steps differ for it by their verb only. */
  readonly head_words: readonly string[]
  /** The answer for a step that `head` accepts. */
  readonly check: Check
  /** The check can throw, as for an ambiguous field: `any_of` never leaves it out. */
  readonly can_throw: boolean
}

/** A rule or a tree of rules. */
export interface CompiledTree {
  /** The answer for any step. */
  readonly check: Check
  /** The check for steps of this type, verb and name; null when it is not applicable to any of them. */
  readonly checkFor: (step: Step) => Check | null
  /** The types and names that `checkFor` compares. */
  readonly head_words: readonly string[]
}

/** A node of a tree in post-order; a combinator combines the last `arity` parts. */
export type Node =
  | (Leaf & { readonly kind: 'leaf'; readonly node: Condition })
  | { readonly kind: Combinator; readonly arity: number }

type LeafNode = Node & { readonly kind: 'leaf' }

/** Compiles a tree: its leaves are not applicable to steps that their heads do not accept. */
export function compiled(nodes: readonly Node[]): CompiledTree {
  const leaves = nodes.filter((node): node is LeafNode => node.kind === 'leaf')
  const check = checkWith(nodes, headed) ?? (() => NOT_APPLICABLE)
  if (leaves.every(({ head }) => head === null)) return { check, head_words: [], checkFor: () => check }
  return {
    check,
    head_words: leaves.flatMap((leaf) => leaf.head_words),
    checkFor: (step) => checkWith(nodes, ({ head, check }) => (head === null || head(step) ? check : null)),
  }
}

/** The value of a tree, from its leaves up: no depth needs a stack while a policy is compiled. */
function folded<T>(
  nodes: readonly Node[],
  leaf: (leaf: LeafNode) => T,
  combine: (kind: Combinator, parts: T[]) => T,
): T {
  const parts: T[] = []
  for (const node of nodes)
    parts.push(node.kind === 'leaf' ? leaf(node) : combine(node.kind, parts.splice(-node.arity)))
  return parts[0] as T
}

/** The check of a leaf for all steps. */
function headed({ head, check }: LeafNode): Check {
  if (head === null) return check
  const own = (context: RuleContext) => (context.step !== null && head(context.step) ? check(context) : NOT_APPLICABLE)
  const { because } = check
  return because === undefined ? own : Object.assign(own, { because })
}

interface Part {
  readonly check: Check
  /** The checks of its leaves that can throw. */
  readonly throwing: readonly Check[]
  readonly negates: boolean
}

/** The check of a tree with these checks of its leaves, without those that are null; null without any. */
function checkWith(nodes: readonly Node[], checkOf: (leaf: LeafNode) => Check | null): Check | null {
  const whole = folded<Part | null>(
    nodes,
    (leaf) => {
      const check = checkOf(leaf)
      return check && { check, throwing: leaf.can_throw ? [check] : [], negates: false }
    },
    (kind, parts) =>
      combined(
        kind,
        parts.filter((part) => part !== null),
      ),
  )
  if (whole === null || !whole.negates) return whole?.check ?? null
  const { check } = whole
  // A `not` reports only that its condition holds; the explanation is made when it is needed.
  return (context) => {
    const answer = check(context)
    return typeof answer === 'object' ? explained(nodes, checkOf, context) : answer
  }
}

/** Parts that are not applicable do not count. */
function combined(kind: Combinator, parts: readonly Part[]): Part | null {
  const [first] = parts
  if (first === undefined) return null
  const checks = parts.map(({ check }) => check)
  return {
    check: kind === 'not' ? not(first.check) : kind === 'all_of' ? allOf(checks) : anyOf(parts),
    throwing: parts.length === 1 ? first.throwing : parts.flatMap(({ throwing }) => throwing),
    negates: kind === 'not' || parts.some(({ negates }) => negates),
  }
}

/** The violation of a `not` before it is explained. */
const holds: Violation = { code: 'CONDITION_HOLDS', message: 'the condition holds and must not', evidence: [] }

function not(condition: Check): Check {
  return (context) => {
    const answer = condition(context)
    return answer === NOT_APPLICABLE ? answer : answer === PASS ? holds : PASS
  }
}

function allOf(checks: readonly Check[]): Check {
  return (context) => {
    let passed = false
    let violations: Violation[] | null = null
    for (let index = 0; index < checks.length; index++) {
      const answer = (checks[index] as Check)(context)
      if (typeof answer !== 'object') passed ||= answer === PASS
      else if (violations === null) violations = [answer]
      else violations.push(answer)
    }
    return violations !== null ? everyOf(violations) : passed ? PASS : NOT_APPLICABLE
  }
}

/**
 * Ends at a pass. INVARIANT (broken never means allowed): the leaves that are passed over and can throw still run, so that an
 * ambiguous field violates through any `any_of`.
 */
function anyOf(parts: readonly Part[]): Check {
  const checks = parts.map(({ check }) => check)
  const throwing = parts.flatMap((part) => part.throwing)
  let count = 0
  /** For each part, the first check after it that can throw. */
  const later = parts.map((part) => {
    count += part.throwing.length
    return count
  })
  return (context) => {
    let violations: Violation[] | null = null
    for (let index = 0; index < checks.length; index++) {
      const answer = (checks[index] as Check)(context)
      if (answer === PASS) {
        for (let next = later[index] as number; next < throwing.length; next++) (throwing[next] as Check)(context)
        return PASS
      }
      if (typeof answer !== 'object') continue
      if (violations === null) violations = [answer]
      else violations.push(answer)
    }
    return violations === null ? NOT_APPLICABLE : someOf(violations)
  }
}

function explained(nodes: readonly Node[], checkOf: (leaf: LeafNode) => Check | null, context: RuleContext): Violation {
  const { violated } = folded<Both>(
    nodes,
    (leaf) => bothOfLeaf(leaf.node, checkOf(leaf), context),
    (kind, parts) => bothIn[kind](parts),
  )
  return violated?.violation ?? { code: 'CONDITION_VIOLATED', message: 'the condition is violated', evidence: [] }
}
