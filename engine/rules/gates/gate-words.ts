// The result of a gate, in the words that agents and their frameworks use.
import type { Step } from '@svc/schemas'
import { quoteWord } from '../../check/quote.js'
import { compileStepField } from '../selection/lookup.js'
import { AmbiguousField } from '../values/members.js'

const positive = new Set([
  'pass',
  'passed',
  'success',
  'succeeded',
  'ok',
  'yes',
  'true',
  'allow',
  'allowed',
  'approve',
  'approved',
  'accept',
  'accepted',
  'grant',
  'granted',
])

/** Words of a person who says no. Others, such as `pending`, leave the question open. */
const rejections = new Set([
  'no',
  'false',
  'block',
  'blocked',
  'deny',
  'denied',
  'reject',
  'rejected',
  'refuse',
  'refused',
  'decline',
  'declined',
])

/** Other words for how a step ended. They have not passed, and neither has any further word. */
const others = new Set([
  ...rejections,
  'fail',
  'failed',
  'failure',
  'error',
  'cancelled',
  'canceled',
  'expired',
  'timeout',
  'pending',
  'skipped',
  'running',
  'done',
  'completed',
])

/** True if the text is a word for a result, and so no payload. */
export function isGateWord(text: string): boolean {
  const word = text.toLowerCase()
  return positive.has(word) || others.has(word)
}

const fields = [
  'guard.result',
  'guard.status',
  'guard.decision',
  'guard.passed',
  'guard.approved',
  'output.status',
  'output.result',
  'output.decision',
  'output.approved',
].map((path) => ({ path, get: compileStepField(path, 'field') }))

/** The output of a tool may have such a result as well. */
const guards = fields.filter(({ path }) => path.startsWith('guard.'))

/** The check type of a gate. */
export const checkType = compileStepField('guard.check_type', 'field')

const digestField = compileStepField('input.action_digest', 'field')

/** The digest of the action that a gate approves or rejects; null for a gate without a valid one. */
export function digestOfGate(gate: Step): string | null {
  const field = digestField(gate)
  const digest = typeof field === 'string' ? field.trim().toLowerCase() : ''
  return /^[0-9a-f]{64}$/.test(digest) ? digest : null
}

/** True if the step says what was checked: a check type, a result of a guard, or the digest of an action. */
export function hasGateForm(step: Step): boolean {
  return checkType(step) !== null || digestOfGate(step) !== null || guards.some(({ get }) => get(step) !== null)
}

/**
 * The reason why a gate has not passed; null when it has. Every result that it reports must be positive, or else its answer. A
 * gate without either has passed; a gate with an ambiguous field has not.
 */
export function gateProblem(gate: Step): string | null {
  try {
    checkType(gate)
    const found = notPassed(gate)
    return found === null ? null : notPositive(found.path, found.word)
  } catch (error) {
    if (error instanceof AmbiguousField) return `its ${error.message}`
    throw error
  }
}

/** True if the gate says that a person said no. */
export function isRejection(gate: Step): boolean {
  try {
    const word = notPassed(gate)?.word
    return word === false || (typeof word === 'string' && rejections.has(word.toLowerCase()))
  } catch (error) {
    if (error instanceof AmbiguousField) return false
    throw error
  }
}

/** The first result that is not positive; null without one. Throws AmbiguousField. */
function notPassed(gate: Step): { readonly path: string; readonly word: unknown } | null {
  let first = null
  for (const { path, get } of fields) {
    const word = get(gate)
    if (word !== null && !isPositive(word)) return { path, word }
    first ??= word
  }
  const word = first === null ? answerOf(gate) : null
  return word === null || isPositive(word) ? null : { path: 'output', word }
}

/** The answer of a gate whose output is not an object, or is kept as one of these; null without one. */
function answerOf({ output }: Step): unknown {
  const [[name, value] = [], ...others] = Object.entries(output ?? {})
  return others.length === 0 && (name === 'value' || name === 'text') ? value : null
}

function notPositive(path: string, word: unknown): string {
  return `its \`${path}\` is ${quoteWord(word)}, which is not \`passed\`, \`approved\` or another positive result`
}

function isPositive(word: unknown): boolean {
  return word === true || (typeof word === 'string' && positive.has(word.toLowerCase()))
}
