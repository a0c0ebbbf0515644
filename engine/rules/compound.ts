// all_of, any_of and not (docs/design/engine.md §3, 24–26). A tree becomes a flat program in post-order, so that no depth of
// nesting exhausts the stack, at load or at run time.
import type { JsonMap, Step } from '@svc/schemas'
import { ParameterError } from '../check/parameter-error.js'
import { allOf, anyOf, explain, type Shape } from './compound-cause.js'
import type { Combinator, Condition } from './condition.js'
import {
  type Answer,
  type Check,
  NOT_APPLICABLE,
  PASS,
  type RuleContext,
  type RuleDescription,
  type Scope,
  type Violation,
} from './rule.js'

const everyScope: readonly Scope[] = ['agent_registration', 'step_execution', 'task_execution']
const condition = {
  type: 'object',
  required: ['rule_type'],
  additionalProperties: false,
  properties: { rule_type: { type: 'string' }, params: { type: 'object' } },
}
const conditions = { type: 'array', items: condition, minItems: 1 }
const gate = { rule_type: 'step_requires_gate', params: { max_age_steps: 1 } }
const message = { rule_type: 'history_contains', params: { step_type: 'step.message' } }

export const compoundRules: readonly RuleDescription[] = [
  {
    name: 'all_of',
    category: 'flow',
    scopes: everyScope,
    targets: false,
    params: { type: 'object', required: ['conditions'], additionalProperties: false, properties: { conditions } },
    doc: 'Passes when every applicable condition passes. Usable where all its conditions are.',
    example: { conditions: [gate, message] },
  },
  {
    name: 'any_of',
    category: 'flow',
    scopes: everyScope,
    targets: false,
    params: { type: 'object', required: ['conditions'], additionalProperties: false, properties: { conditions } },
    doc: 'Passes when at least one applicable condition passes. Usable where all its conditions are.',
    example: { conditions: [gate, message] },
  },
  {
    name: 'not',
    category: 'flow',
    scopes: everyScope,
    targets: false,
    params: { type: 'object', required: ['condition'], additionalProperties: false, properties: { condition } },
    doc: 'Passes when its condition is violated; not applicable when its condition is.',
    example: { condition: message },
  },
]

/** A rule that is not a combinator. */
export interface Leaf {
  /** Whether the rule can be applicable to a step of this type, verb and name; null when it can be applicable to any. */
  readonly head: ((step: Step) => boolean) | null
  /** The answer for a step that `head` accepts. */
  readonly check: Check
}

/** A rule or a tree of rules. */
export interface CompiledTree {
  /** The answer for any step. */
  readonly check: Check
  /** The check for steps of this type, verb and name; null when it is not applicable to any of them. */
  readonly checkFor: (step: Step) => Check | null
}

/** A leaf has a check; a combinator combines the last `arity` answers. */
type Instruction = LeafInstruction | CombineInstruction
type LeafInstruction = Leaf & { readonly node: Condition }
type CombineInstruction = { readonly combine: Combine; readonly arity: number; readonly kind: Combinator }

export function isCombinator(rule_type: string): rule_type is Combinator {
  return rule_type === 'all_of' || rule_type === 'any_of' || rule_type === 'not'
}

/** The nodes of a tree, children before their parents. Throws ParameterError naming the path of a malformed node. */
export function postOrder(root: Condition): { node: Condition; path: string; arity: number }[] {
  const ordered: { node: Condition; path: string; arity: number }[] = []
  const pending = [{ node: root, path: '' }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const children = childrenOf(next.node, next.path)
    ordered.push({ ...next, arity: children.length })
    pending.push(...children)
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
    throw new ParameterError(`${within}${extra}`, `unknown parameter \`${extra}\` of \`${node.rule_type}\``, null, true)
  const given = params[key]
  if (node.rule_type === 'not') return [{ node: asCondition(given, here), path: here }]
  if (!Array.isArray(given) || given.length === 0)
    throw new ParameterError(here, `\`${node.rule_type}\` needs a list of at least one condition`)
  return given.map((child, index) => ({ node: asCondition(child, `${here}.${index}`), path: `${here}.${index}` }))
}

function asCondition(value: unknown, path: string): Condition {
  const shape = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonMap) : null
  if (shape === null) throw new ParameterError(path, 'a condition must be an object with `rule_type` and `params`')
  const { rule_type, params, ...rest } = shape
  const [extra] = Object.keys(rest)
  if (extra !== undefined)
    throw new ParameterError(
      `${path}.${extra}`,
      `unknown key \`${extra}\`; a condition has \`rule_type\` and \`params\``,
      null,
      true,
    )
  if (typeof rule_type !== 'string') throw new ParameterError(`${path}.rule_type`, '`rule_type` is missing')
  if (params === undefined) return { rule_type }
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    throw new ParameterError(`${path}.params`, '`params` must be an object')
  return { rule_type, params: params as JsonMap }
}

/** The scopes that all leaves of a tree share. */
export function sharedScopes(of: readonly (readonly Scope[])[]): Scope[] {
  const [first = [], ...rest] = of
  return first.filter((scope) => rest.every((scopes) => scopes.includes(scope)))
}

/** Compiles a tree that `postOrder` flattens; `leaf` compiles each rule that is not a combinator. */
export function compileTree(root: Condition, leaf: (node: Condition, path: string) => Leaf): CompiledTree {
  const program = postOrder(root).map(
    ({ node, path, arity }): Instruction =>
      isCombinator(node.rule_type)
        ? { combine: combinators[node.rule_type], arity, kind: node.rule_type }
        : { ...leaf(node, path), node },
  )
  const whole = compileProgram(program.map(withHead))
  const isOfAny = program.every((instruction) => !('check' in instruction) || instruction.head === null)
  return {
    check: whole,
    checkFor: isOfAny
      ? () => whole
      : (step) => {
          const part = applicablePart(program, step)
          return part.length === 0 ? null : compileProgram(part)
        },
  }
}

/** The leaf as one without a head: it is not applicable to other steps. */
function withHead(instruction: Instruction): Instruction {
  if (!('check' in instruction) || instruction.head === null) return instruction
  const { head, check, node } = instruction
  const headed = (context: RuleContext) =>
    context.step !== null && head(context.step) ? check(context) : NOT_APPLICABLE
  return { head: null, check: Object.assign(headed, check.because && { because: check.because }), node }
}

/** The program without the leaves that are not applicable to the step, and without combinators of such leaves alone. */
function applicablePart(program: readonly Instruction[], step: Step): Instruction[] {
  const part: Instruction[] = []
  // For each condition that is not combined yet: whether it is in the part.
  const kept: boolean[] = []
  for (const instruction of program) {
    if ('check' in instruction) {
      const isKept = instruction.head === null || instruction.head(step)
      kept.push(isKept)
      if (isKept) part.push(instruction)
      continue
    }
    const arity = kept.splice(-instruction.arity).filter((isKept) => isKept).length
    kept.push(arity > 0)
    if (arity > 0) part.push({ ...instruction, arity })
  }
  return part
}

/** Runs a program whose leaves are applicable to the heads of all steps that it is run for. */
function compileProgram(program: readonly Instruction[]): Check {
  const [only] = program
  // Most policies are one rule, whose check needs no program.
  if (program.length === 1 && only !== undefined && 'check' in only) return only.check
  const negates = program.some((instruction) => 'kind' in instruction && instruction.kind === 'not')
  // Lists by the index of the instruction: this runs for every step.
  const checks = program.map((instruction) => ('check' in instruction ? instruction.check : null))
  const combines = program.map((instruction) => ('combine' in instruction ? instruction.combine : null))
  const arities = program.map((instruction) => ('combine' in instruction ? instruction.arity : 0))
  // One list for all runs: a check never runs inside itself.
  const answers: Answer[] = []
  return (context) => {
    let top = 0
    for (let index = 0; index < checks.length; index++) {
      const check = checks[index] as Check | null
      if (check !== null) answers[top++] = check(context)
      else {
        const end = top
        top -= arities[index] as number
        answers[top] = (combines[index] as Combine)(answers, top, end)
        top += 1
      }
    }
    const answer = answers[0] ?? NOT_APPLICABLE
    // A `not` reports only that its condition holds; the explanation is built when it is needed.
    return typeof answer === 'object' && negates ? explained(program, context) : answer
  }
}

/** Combines the answers from `start` to before `end`; answers that are not applicable do not count. */
type Combine = (answers: readonly Answer[], start: number, end: number) => Answer

const combinators: Readonly<Record<Combinator, Combine>> = {
  all_of: (answers, start, end) => {
    let passed = false
    for (let index = start; index < end; index++) {
      if (typeof answers[index] === 'object') return allOf(violationsIn(answers, start, end))
      passed ||= answers[index] === PASS
    }
    return passed ? PASS : NOT_APPLICABLE
  },
  any_of: (answers, start, end) => {
    let violated = false
    for (let index = start; index < end; index++) {
      if (answers[index] === PASS) return PASS
      violated ||= typeof answers[index] === 'object'
    }
    return violated ? anyOf(violationsIn(answers, start, end)) : NOT_APPLICABLE
  },
  not: (answers, start) => {
    if (answers[start] === NOT_APPLICABLE) return NOT_APPLICABLE
    return typeof answers[start] === 'object' ? PASS : holds
  },
}

function violationsIn(answers: readonly Answer[], start: number, end: number): Violation[] {
  return answers.slice(start, end).filter((answer) => typeof answer === 'object')
}

/** The violation of a `not` before it is explained. */
const holds: Violation = { code: 'CONDITION_HOLDS', message: 'the condition holds and must not', evidence: [] }

function explained(program: readonly Instruction[], context: RuleContext): Violation {
  return explain(program.map(shapeOf), answersOf(program, context), context)
}

function shapeOf(instruction: Instruction): Shape {
  return 'check' in instruction
    ? { kind: 'leaf', arity: 0, node: instruction.node, because: instruction.check.because }
    : { kind: instruction.kind, arity: instruction.arity }
}

/** The answer of each instruction, at the index of the instruction. */
function answersOf(program: readonly Instruction[], context: RuleContext): Answer[] {
  const stack: Answer[] = []
  return program.map((instruction) => {
    const answer =
      'check' in instruction
        ? instruction.check(context)
        : instruction.combine(stack.splice(-instruction.arity), 0, instruction.arity)
    stack.push(answer)
    return answer
  })
}
