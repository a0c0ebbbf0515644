// The reason why a compound rule is violated: the conditions that caused it, their evidence and their remedies.
import type { EvidenceStep } from '@svc/schemas'
import { type Check, evidenceOf, NOT_APPLICABLE, PASS, type RuleContext, type Violation } from '../form/rule.js'
import type { Combinator, Condition } from './condition.js'

/** The reason why a condition is violated, or why its negation is. */
interface Cause {
  readonly violation: Violation
  /** The facts that hold and must not, as main clauses; null if the message states what is missing. */
  readonly fact: string | null
  /** Facts that are allowed one by one. */
  readonly together?: boolean
  /** It is a fact about the agent, which a step must not change to pass. */
  readonly of_agent?: boolean
  /** The field of the agent whose presence is the fact. */
  readonly present?: string | undefined
}

/**
 * The answer of a condition as a violation of the condition and as a violation of its negation, each with its remedy.
 * Null where the condition did not give that answer.
 */
export interface Both {
  readonly violated: Cause | null
  readonly passed: Cause | null
}

/** The violation of `all_of` where no condition is negated. */
export function everyOf(violations: readonly Violation[]): Violation {
  return everyCause(violations.map(withoutFact)).violation
}

/** The violation of `any_of` where no condition is negated. */
export function someOf(violations: readonly Violation[]): Violation {
  return someCause(violations.map(withoutFact)).violation
}

function withoutFact(violation: Violation): Cause {
  return { violation, fact: null }
}

/** A combinator as its parts are: a condition under a `not` reports how to violate it. */
export const bothIn: Readonly<Record<Combinator, (parts: readonly Both[]) => Both>> = {
  not: ([part]) => {
    const { violated = null, passed = null } = part ?? {}
    return passed === null ? { violated: null, passed: violated } : { violated: forbidden(passed), passed: null }
  },
  all_of: (parts) => {
    const violated = parts.flatMap((part) => part.violated ?? [])
    const passed = parts.flatMap((part) => part.passed ?? [])
    if (violated.length > 0) return { violated: everyCause(violated), passed: null }
    // Violating one of them is enough to violate `all_of`.
    return { violated: null, passed: passed.length === 0 ? null : facts(passed, true) }
  },
  any_of: (parts) => {
    const violated = parts.flatMap((part) => part.violated ?? [])
    const passed = parts.flatMap((part) => part.passed ?? [])
    if (passed.length > 0) return { violated: null, passed: facts(passed, false) }
    return { violated: violated.length === 0 ? null : someCause(violated), passed: null }
  },
}

const passedCode = 'CONDITION_HOLDS'
const noneHolds = 'NO_CONDITION_HOLDS'

/** `check` is null for a leaf that is not applicable. */
export function bothOfLeaf(node: Condition, check: Check | null, context: RuleContext): Both {
  const answer = check === null ? NOT_APPLICABLE : check(context)
  if (answer === NOT_APPLICABLE) return { violated: null, passed: null }
  if (answer !== PASS) return { violated: withoutFact(answer), passed: null }
  const own = context.step === null ? [] : [evidenceOf(context.step)]
  const { evidence = [], undo, fact = `${describe(node)} holds` } = check?.because?.(context) ?? {}
  const field = fieldOfAgent(node, context)
  const passed = {
    code: passedCode,
    message: fact,
    evidence: firstUnique([{ evidence: [...evidence, ...own] }]),
    remedy:
      field === null ? (undo ?? `change this step so that ${describe(node)} does not hold`) : corrected(field, context),
  }
  const present = node.rule_type === 'field_not_empty' && field !== null ? field : undefined
  return { violated: null, passed: { violation: passed, fact, of_agent: field !== null, present } }
}

/** The field of the agent that the rule is about; null for a rule about the step or its history. */
function fieldOfAgent({ params = {} }: Condition, { step }: RuleContext): string | null {
  const { field } = params
  if (typeof field !== 'string') return null
  return step === null || /^(agent|context)\./.test(field) ? field : null
}

/** A fact about the agent is corrected where it is wrong, and not changed because it is in the way. */
function corrected(field: string, { step }: RuleContext): string {
  return `correct \`${field}\` if it is wrong, otherwise ${step === null ? 'do not use this agent' : 'leave this step out'}`
}

/** The cause where what holds must not; under a second negation a condition reports what it reports itself. */
function forbidden(cause: Cause): Cause {
  const { fact, together = false, violation } = cause
  if (fact === null) return cause
  return {
    ...cause,
    violation: { ...violation, message: `${fact}, which is not allowed${together ? ' together' : ''}` },
  }
}

/** Every cause, so that the author of a step can correct all of them at once. */
function everyCause(causes: readonly Cause[]): Cause {
  const [first] = causes
  if (first !== undefined && causes.length === 1) return first
  const violation = joined(causes, '; and ', first?.violation.code ?? 'CONDITION_VIOLATED')
  return { violation, fact: causes.every(({ fact }) => fact !== null) ? sentence(causes) : null }
}

/** The facts whose negation is required; `together`: one of them may hold without the others. */
function facts(causes: readonly Cause[], together: boolean): Cause {
  const [first] = causes
  if (first !== undefined && causes.length === 1) return first
  const changeable = causes.filter(({ of_agent }) => of_agent !== true)
  const ways = together && changeable.length > 0 ? changeable : causes
  const { remedy, remedy_steps, ...violation } = joined(causes, together ? '; or ' : '; and ', passedCode)
  const fact = sentence(causes)
  return {
    violation: { ...violation, message: fact, ...remedyOf(ways, together ? '; or ' : '; and ') },
    fact,
    together,
  }
}

/**
 * Every way out where one would have been enough. "Not A, or B" means "if A, then B": what holds is the reason why the
 * others are required, and never a way out.
 */
function someCause(causes: readonly Cause[]): Cause {
  const premiseOf = new Map(causes.map((cause) => [cause, cause.fact ?? cause.violation.once?.() ?? null]))
  const required = causes.filter((cause) => premiseOf.get(cause) === null)
  const ways = required.length > 0 ? required : causes.filter(({ fact }) => fact === null)
  if (ways.length === 0) {
    const cause = facts(causes, true)
    return { ...cause, violation: { ...forbidden(cause).violation, code: noneHolds } }
  }
  const about = new Set(ways.flatMap((way) => way.violation.about ?? []))
  const premises = causes.filter((cause) => !ways.includes(cause) && !(cause.present && about.has(cause.present)))
  const reasons = [...new Set(premises.map((premise) => premiseOf.get(premise)))].join(' and ')
  const because = ` (${ways.length > 1 ? 'one of them is ' : ''}required because ${reasons})`
  const { message, ...violation } = joined(ways, '; or ', noneHolds)
  const whole = shortened(reasons === '' ? message : `${message}${because}`)
  return {
    violation: { ...violation, message: whole, evidence: firstUnique(causes.map((cause) => cause.violation)) },
    fact: null,
  }
}

function joined(causes: readonly Cause[], between: Between, code: string): Violation {
  const violations = causes.map(({ violation }) => violation)
  return {
    code,
    message: shortened([...new Set(violations.map(({ message }) => message))].join('; and ')),
    evidence: firstUnique(violations),
    ...remedyOf(causes, between),
  }
}

type Between = '; and ' | '; or '

/** The remedy: all of it, or one of several. */
function remedyOf(causes: readonly Cause[], between: Between): Pick<Violation, 'remedy' | 'remedy_steps'> {
  const violations = causes.map(({ violation }) => violation)
  const known = violations.flatMap(({ remedy }) => remedy ?? [])
  // If all are needed, one violation without a remedy leaves the whole without one.
  if (known.length === 0 || (between === '; and ' && known.length < violations.length)) return {}
  const texts = [...new Set(known)]
  const remedy = between === '; or ' && texts.length > 1 ? `one of: ${texts.join(between)}` : texts.join(between)
  const steps = between === '; or ' ? violations.find(({ remedy_steps }) => remedy_steps) : allSteps(violations)
  return { remedy: shortened(remedy), ...(steps?.remedy_steps && { remedy_steps: steps.remedy_steps }) }
}

/** The facts that hold, in one sentence. */
function sentence(causes: readonly Cause[]): string {
  return shortened([...new Set(causes.map(({ fact, violation }) => fact ?? violation.message))].join(' and '))
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
