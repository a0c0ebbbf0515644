// Runs the flat program of a condition tree: the instructions in post-order, each leaf and combinator once.
import type { Step } from '@svc/schemas'
import { everyOf, explain, type Shape, someOf } from './compound-cause.js'
import type { Combinator, Condition } from './condition.js'
import { type Answer, type Check, NOT_APPLICABLE, PASS, type RuleContext, type Violation } from './rule.js'

/** A rule that is not a combinator. */
export interface Leaf {
  /** Whether the rule can be applicable to a step of this type, verb and name; null when it can be applicable to any. */
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

/** A leaf has a check; a combinator combines the last `arity` answers. */
export type Instruction = LeafInstruction | Combination
type LeafInstruction = Leaf & { readonly node: Condition }
interface Combination {
  readonly kind: Combinator
  readonly combine: Combine
  readonly arity: number
}

export function combination(kind: Combinator, arity: number): Combination {
  return { kind, combine: combinators[kind], arity }
}

/** Compiles the program of a tree: its leaves are not applicable to steps that their heads do not accept. */
export function compileProgram(program: readonly Instruction[]): CompiledTree {
  const check = compileRun(program.map(withHead))
  const heads = program.filter((instruction) => 'check' in instruction && instruction.head !== null) as Leaf[]
  if (heads.length === 0) return { check, head_words: [], checkFor: () => check }
  return {
    check,
    head_words: heads.flatMap((leaf) => leaf.head_words),
    checkFor: (step) => {
      const part = applicablePart(program, step)
      return part.length === 0 ? null : compileRun(part)
    },
  }
}

/** The leaf as one for all steps. */
function withHead(instruction: Instruction): Instruction {
  if (!('check' in instruction) || instruction.head === null) return instruction
  const { head, check } = instruction
  const headed = (context: RuleContext) =>
    context.step !== null && head(context.step) ? check(context) : NOT_APPLICABLE
  const { because } = check
  return { ...instruction, head: null, check: because === undefined ? headed : Object.assign(headed, { because }) }
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

/** The check that runs a program whose leaves are for all steps. */
function compileRun(program: readonly Instruction[]): Check {
  const [only] = program
  // Most policies are one rule, whose check needs no program.
  if (program.length === 1 && only !== undefined && 'check' in only) return only.check
  const negates = program.some((instruction) => 'kind' in instruction && instruction.kind === 'not')
  // Lists by the index of the instruction, because this runs for every step.
  const checks = program.map((instruction) => ('check' in instruction ? instruction.check : null))
  const combines = program.map((instruction) => ('combine' in instruction ? instruction.combine : null))
  const arities = program.map((instruction) => ('combine' in instruction ? instruction.arity : 0))
  const throwing = nextThrowing(program)
  const ends = endsOfAny(program)
  // One list for all runs: a check never runs inside itself.
  const answers: Answer[] = []
  return (context) => {
    let top = 0
    for (let index = 0; index < checks.length; index++) {
      const check = checks[index] as Check | null
      if (check === null) {
        const end = top
        top -= arities[index] as number
        answers[top] = (combines[index] as Combine)(answers, top, end)
      } else answers[top] = check(context)
      const end = ends[index] as AnyOfEnd | null
      if (end !== null && answers[top] === PASS) {
        for (let next = throwing[index + 1] as number; next < end.index; next = throwing[next + 1] as number)
          (checks[next] as Check)(context)
        top -= end.before
        answers[top] = PASS
        index = end.index
      }
      top += 1
    }
    const answer = answers[0] ?? NOT_APPLICABLE
    // A `not` reports only that its condition holds; the explanation is built when it is needed.
    return typeof answer === 'object' && negates ? explained(program, context) : answer
  }
}

/** The outermost `any_of` that passes when an instruction does. */
interface AnyOfEnd {
  readonly index: number
  /** The number of answers on the stack, from the first that it combines to before that of the instruction. */
  readonly before: number
}

/**
 * Where the run continues after an instruction that passes; null: at the next. INVARIANT (broken never means allowed): the
 * leaves that are passed over and can throw still run, so that an ambiguous field violates through any `any_of`.
 */
function endsOfAny(program: readonly Instruction[]): (AnyOfEnd | null)[] {
  const ends: (AnyOfEnd | null)[] = program.map(() => null)
  const children: number[][] = []
  const open: number[] = []
  for (const [index, instruction] of program.entries()) {
    children.push('combine' in instruction ? open.splice(-instruction.arity) : [])
    open.push(index)
  }
  // From the root down.
  for (let index = program.length - 1; index >= 0; index--) {
    const instruction = program[index]
    if (instruction === undefined || !('combine' in instruction) || instruction.kind !== 'any_of') continue
    const outer = ends[index]
    for (const [before, child] of (children[index] ?? []).entries())
      ends[child] = outer == null ? { index, before } : { index: outer.index, before: outer.before + before }
  }
  return ends
}

/** For each index, the first leaf from there on that can throw; the length of the program when no leaf can. */
function nextThrowing(program: readonly Instruction[]): number[] {
  const next: number[] = []
  next[program.length] = program.length
  for (let index = program.length - 1; index >= 0; index--) {
    const instruction = program[index]
    const can_throw = instruction !== undefined && 'check' in instruction && instruction.can_throw
    next[index] = can_throw ? index : (next[index + 1] ?? program.length)
  }
  return next
}

/** Combines the answers from `start` to before `end`; answers that are not applicable do not count. */
type Combine = (answers: readonly Answer[], start: number, end: number) => Answer

const combinators: Readonly<Record<Combinator, Combine>> = {
  all_of: (answers, start, end) => {
    let passed = false
    for (let index = start; index < end; index++) {
      if (typeof answers[index] === 'object') return everyOf(violationsIn(answers, start, end))
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
    return violated ? someOf(violationsIn(answers, start, end)) : NOT_APPLICABLE
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
