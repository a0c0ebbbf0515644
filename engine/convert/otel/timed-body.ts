// A step before it has a number.
import type { Body } from '../step-body.js'
import type { Span } from './span.js'
import type { Subagent } from './tree.js'

export interface TimedBody {
  /** ns since 1970. */
  readonly time: bigint
  /** The span that the step stands for; null for a step that follows from the content of a span. */
  readonly span: Span | null
  /** The sub-agent that acted; null for the agent of the task. */
  readonly subagent: Subagent | null
  readonly body: Body
}
