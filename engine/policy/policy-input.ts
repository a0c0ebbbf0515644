// What is compiled.
import type { Policy } from '@svc/schemas'

/** A policy to be compiled, with the time until which it is waived for this agent, if it is. */
export interface PolicyInput extends Policy {
  readonly waived_until?: number
}
