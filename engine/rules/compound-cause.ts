// Why a compound rule is violated: the conditions that caused it, their evidence and their remedies.
import type { EvidenceStep } from '@svc/schemas'
import type { Combinator, Condition } from './condition.js'
import {
  type Answer,
  evidenceOf,
  NOT_APPLICABLE,
  PASS,
  type PassCause,
  type RuleContext,
  type Violation,
} from './rule.js'

/** One instruction of a program in post-order, with the parts that an explanation needs. */
export type Shape =
  | { readonly kind: Combinator; readonly arity: number }
  | {
      readonly kind: 'leaf'
      readonly arity: 0
      readonly node: Condition
      readonly because?: ((context: RuleContext) => PassCause) | undefined
    }

/** Reports every violation, so that the author of a step can correct all of them at once. */
export function allOf(violations: readonly Violation[]): Violation {
  return joined(violations, '; and ', violations[0]?.code ?? 'CONDITION_VIOLATED')
}

/** Reports every violation where one passing condition would have been enough. */
export function anyOf(violations: readonly Violation[]): Violation {
  return joined(violations, '; or ', 'NO_CONDITION_HOLDS')
}

function joined(violations: readonly Violation[], between: '; and ' | '; or ', code: string): Violation {
  const [first] = violations
  if (first !== undefined && violations.length === 1) return { ...first, code }
  const known = violations.flatMap(({ remedy }) => remedy ?? [])
  // Where all are needed, one violation without a remedy leaves the whole without one.
  const isRemedied = known.length > 0 && (between === '; or ' || known.length === violations.length)
  const texts = [...new Set(known)]
  const remedy = between === '; or ' && texts.length > 1 ? `one of: ${texts.join(between)}` : texts.join(between)
  const steps = between === '; or ' ? violations.find(({ remedy_steps }) => remedy_steps) : allSteps(violations)
  return {
    code,
    message: shortened([...new Set(violations.map(({ message }) => message))].join('; and ')),
    evidence: firstUnique(violations),
    ...(isRemedied && { remedy: shortened(remedy) }),
    ...(isRemedied && steps?.remedy_steps && { remedy_steps: steps.remedy_steps }),
  }
}

/** Bounds of an explanation: each level of a deep tree repeats what its conditions report. */
const maxEvidence = 50
const maxText = 2000

function shortened(text: string): string {
  return text.length > maxText ? `${text.slice(0, maxText)}…` : text
}

function allSteps(violations: readonly Violation[]): Pick<Violation, 'remedy_steps'> | undefined {
  if (!violations.every(({ remedy_steps }) => remedy_steps !== undefined)) return undefined
  return { remedy_steps: violations.flatMap(({ remedy_steps }) => remedy_steps ?? []) }
}

/**
 * The violation of a program, built from its leaves up. A condition under a `not` reports how to violate it. `answers`
 * holds one answer for each instruction.
 */
export function explain(program: readonly Shape[], answers: readonly Answer[], context: RuleContext): Violation {
  const stack: Both[] = []
  for (const [index, shape] of program.entries()) {
    const parts = shape.kind === 'leaf' ? [] : stack.splice(-shape.arity)
    stack.push(shape.kind === 'leaf' ? ofLeaf(shape, answers[index], context) : combined[shape.kind](parts))
  }
  const [whole] = stack
  return whole?.violated ?? { code: 'CONDITION_VIOLATED', message: 'the condition is violated', evidence: [] }
}

/**
 * The answer of a condition as a violation of the condition and as a violation of its negation, each with its remedy.
 * Null where the condition did not give that answer.
 */
interface Both {
  readonly violated: Violation | null
  readonly passed: Violation | null
}

const combined: Readonly<Record<Combinator, (parts: readonly Both[]) => Both>> = {
  not: ([part]) => {
    const { violated = null, passed = null } = part ?? {}
    if (passed === null) return { violated: null, passed: violated }
    return { violated: { ...passed, message: `${passed.message}, but must not` }, passed: null }
  },
  all_of: (parts) => {
    const violated = parts.flatMap((part) => part.violated ?? [])
    const passed = parts.flatMap((part) => part.passed ?? [])
    if (violated.length > 0) return { violated: allOf(violated), passed: null }
    // Violating one of them is enough to violate `all_of`.
    return { violated: null, passed: passed.length === 0 ? null : joined(passed, '; or ', passedCode) }
  },
  any_of: (parts) => {
    const violated = parts.flatMap((part) => part.violated ?? [])
    const passed = parts.flatMap((part) => part.passed ?? [])
    if (passed.length > 0) return { violated: null, passed: joined(passed, '; and ', passedCode) }
    return { violated: violated.length === 0 ? null : anyOf(violated), passed: null }
  },
}

const passedCode = 'CONDITION_HOLDS'

function ofLeaf(shape: Shape & { kind: 'leaf' }, answer: Answer | undefined, context: RuleContext): Both {
  if (answer === undefined || answer === NOT_APPLICABLE) return { violated: null, passed: null }
  if (answer !== PASS) return { violated: answer, passed: null }
  const own = context.step === null ? [] : [evidenceOf(context.step)]
  const { evidence = [], undo } = shape.because?.(context) ?? {}
  const what = describe(shape.node)
  const passed = {
    code: passedCode,
    message: `${what} holds`,
    evidence: firstUnique([{ evidence: [...evidence, ...own] }]),
    remedy: undo ?? `change this step so that ${what} does not hold`,
  }
  return { violated: null, passed }
}

/** A rule and its parameters as the policy writes them, shortened. */
function describe({ rule_type, params = {} }: Condition): string {
  const aim = Object.entries(params).filter(([name]) => !name.startsWith('target_'))
  const words = aim.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(', ')
  return `\`${rule_type}\`${words === '' ? '' : ` (${words.length > 200 ? `${words.slice(0, 200)}…` : words})`}`
}

/** The first steps of the evidence, each once. */
function firstUnique(violations: readonly Pick<Violation, 'evidence'>[]): EvidenceStep[] {
  const steps: EvidenceStep[] = []
  for (const { evidence } of violations) {
    for (const one of evidence) {
      if (steps.length === maxEvidence) return steps
      if (!steps.some((known) => isSame(known, one))) steps.push(one)
    }
  }
  return steps
}

function isSame(one: EvidenceStep, other: EvidenceStep): boolean {
  return one.step === other.step && one.step_type === other.step_type && one.step_name === other.step_name
}
