// The result of a gate, in the words that agents and their frameworks use.
import type { Step } from '@svc/schemas'
import { quoteWord } from '../check/quote.js'
import { compileStepField } from './lookup.js'
import { AmbiguousField } from './members.js'

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

/** Other words for how a step ended. They have not passed, and neither has any further word. */
const others = new Set([
  'fail',
  'failed',
  'failure',
  'error',
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

/** Whether the text is a word for a result, and so no payload. */
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

/** The check type of a gate. */
export const checkType = compileStepField('guard.check_type', 'field')

const digestField = compileStepField('input.action_digest', 'field')

/** The digest of the action that a gate approves or rejects; null for a gate without a valid one. */
export function digestOfGate(gate: Step): string | null {
  const field = digestField(gate)
  const digest = typeof field === 'string' ? field.trim().toLowerCase() : ''
  return /^[0-9a-f]{64}$/.test(digest) ? digest : null
}

/**
 * Why a gate has not passed; null when it has. Every result that it reports must be positive. A gate without a result has
 * passed; a gate with an ambiguous field has not.
 */
export function gateProblem(gate: Step): string | null {
  try {
    checkType(gate)
    for (const { path, get } of fields) {
      const word = get(gate)
      if (word !== null && !isPositive(word))
        return `its \`${path}\` is ${quoteWord(word)}, which is not \`passed\`, \`approved\` or another positive result`
    }
    return null
  } catch (error) {
    if (error instanceof AmbiguousField) return `its ${error.message}`
    throw error
  }
}

function isPositive(word: unknown): boolean {
  return word === true || (typeof word === 'string' && positive.has(word.toLowerCase()))
}
