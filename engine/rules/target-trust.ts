// Whether a step leaves the organization: `target.trust` and `is_external_call` have one meaning, so that either sets both.
import type { Step } from '@svc/schemas'
import { listedReader } from './listed.js'
import { AmbiguousField, dotted } from './members.js'

const find = dotted(['target', 'trust'])
const listed = listedReader('target.trust')

/** In any spelling, because a label in other letters must not make a target internal. Throws for a value that is not a label. */
function trust(properties: unknown): string | null {
  return listed(find(properties))
}

/**
 * `target.trust` of a step, `internal` or `external`; null when neither it nor the flag is set. Throws AmbiguousField when they
 * disagree, and for another value.
 */
export function targetTrust(step: Step): string | null {
  const trusted = trust(step.properties)
  if (step.is_external_call === undefined) return trusted
  const flagged = step.is_external_call ? 'external' : 'internal'
  if (trusted !== null && trusted !== flagged) throw new AmbiguousField('target.trust')
  return flagged
}

/** True if the step leaves the organization. Throws AmbiguousField for a flag that contradicts `target.trust`, and for another value. */
export function externalCall(step: Step): boolean {
  const trusted = trust(step.properties)
  if (step.is_external_call === undefined) return trusted === 'external'
  if (trusted !== null && (trusted === 'external') !== step.is_external_call)
    throw new AmbiguousField('is_external_call')
  return step.is_external_call
}

/** True if the step leaves the organization, where one answer must be stored: an ambiguous flag counts as true. */
export function isExternalCall(step: Step): boolean {
  try {
    return externalCall(step)
  } catch (error) {
    if (error instanceof AmbiguousField) return true
    throw error
  }
}
