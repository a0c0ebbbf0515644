// The input of `compile`.
import type { Policy } from '@svc/schemas'

/** A policy with the end of its waiver for this agent, ms since 1970, if it has one. */
export interface PolicyInput extends Policy {
  readonly waived_until?: number
}
