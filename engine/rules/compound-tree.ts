// Checks of trees of rules, and the trees without the rules that are not applicable to a step. A tree has at most 1,000 levels
// (compound-depth.ts), which a check calls into one by one.
import type { Step } from '@svc/schemas'
import { type Both, bothIn, bothOfLeaf, everyOf, someOf } from './compound-cause.js'
import type { Combinator, Condition } from './condition.js'
import { type Check, NOT_APPLICABLE, PASS, type RuleContext, type Violation } from './rule.js'

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

export type Tree =
  | (Leaf & { readonly kind: 'leaf'; readonly node: Condition })
  | { readonly kind: Combinator; readonly parts: readonly Tree[] }

/** Compiles a tree: its leaves are not applicable to steps that their heads do not accept. */
export function compiled(tree: Tree): CompiledTree {
  const leaves = leavesOf(tree)
  const check = checkOf(mapped(tree, withHead))
  if (leaves.every(({ head }) => head === null)) return { check, head_words: [], checkFor: () => check }
  return {
    check,
    head_words: leaves.flatMap((leaf) => leaf.head_words),
    checkFor: (step) => {
      const part = mapped(tree, (leaf) => (leaf.head === null || leaf.head(step) ? leaf : null))
      return part === null ? null : checkOf(part)
    },
  }
}

type LeafTree = Tree & { readonly kind: 'leaf' }

function leavesOf(tree: Tree): LeafTree[] {
  return tree.kind === 'leaf' ? [tree] : tree.parts.flatMap(leavesOf)
}

/** The tree with other leaves, without those that become null and without combinators of such leaves alone. */
function mapped(tree: Tree, change: (leaf: LeafTree) => Tree): Tree
function mapped(tree: Tree, change: (leaf: LeafTree) => Tree | null): Tree | null
function mapped(tree: Tree, change: (leaf: LeafTree) => Tree | null): Tree | null {
  if (tree.kind === 'leaf') return change(tree)
  const parts = tree.parts.flatMap((part) => mapped(part, change) ?? [])
  return parts.length === 0 ? null : { ...tree, parts }
}

/** The leaf as one for all steps. */
function withHead(leaf: LeafTree): Tree {
  const { head, check } = leaf
  if (head === null) return leaf
  const headed = (context: RuleContext) =>
    context.step !== null && head(context.step) ? check(context) : NOT_APPLICABLE
  const { because } = check
  return { ...leaf, check: because === undefined ? headed : Object.assign(headed, { because }) }
}

function checkOf(tree: Tree): Check {
  const check = plainCheck(tree)
  if (!negates(tree)) return check
  // A `not` reports only that its condition holds; the explanation is made when it is needed.
  return (context) => {
    const answer = check(context)
    return typeof answer === 'object' ? explained(tree, context) : answer
  }
}

function negates(tree: Tree): boolean {
  return tree.kind === 'not' || (tree.kind !== 'leaf' && tree.parts.some(negates))
}

/** The violation of a `not` before it is explained. */
const holds: Violation = { code: 'CONDITION_HOLDS', message: 'the condition holds and must not', evidence: [] }

/** Parts that are not applicable do not count. */
function plainCheck(tree: Tree): Check {
  if (tree.kind === 'leaf') return tree.check
  const checks = tree.parts.map(plainCheck)
  if (tree.kind === 'all_of') return allOf(checks)
  if (tree.kind === 'any_of') return anyOf(checks, tree.parts)
  const [condition] = checks as [Check]
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
function anyOf(checks: readonly Check[], parts: readonly Tree[]): Check {
  const throwing: Check[] = []
  /** For each part, the first check after it that can throw. */
  const later = parts.map((part) => {
    for (const { can_throw, check } of leavesOf(part)) if (can_throw) throwing.push(check)
    return throwing.length
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

function explained(tree: Tree, context: RuleContext): Violation {
  const { violated } = bothOf(tree, context)
  return violated?.violation ?? { code: 'CONDITION_VIOLATED', message: 'the condition is violated', evidence: [] }
}

function bothOf(tree: Tree, context: RuleContext): Both {
  if (tree.kind === 'leaf') return bothOfLeaf(tree.node, tree.check, context)
  return bothIn[tree.kind](tree.parts.map((part) => bothOf(part, context)))
}
