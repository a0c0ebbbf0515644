// The input of `compile`.
import { isoTime, type Policy, parseTimestamp } from '@svc/schemas'

/** A policy with the end of its waiver for this agent, ms since 1970, if it has one. */
export interface PolicyInput extends Omit<Policy, 'waived_until'> {
  readonly waived_until?: number
}

/** A policy as it crosses the wire; an end of a waiver that is not a time waives nothing. */
export function readPolicy({ waived_until, ...policy }: Policy): PolicyInput {
  const until = waived_until == null ? null : parseTimestamp(waived_until)
  return { ...policy, ...(until !== null && { waived_until: until }) }
}

/** The policy for the wire. */
export function writePolicy({ waived_until, ...policy }: PolicyInput): Policy {
  return { ...policy, ...(waived_until !== undefined && { waived_until: isoTime(waived_until) }) }
}
