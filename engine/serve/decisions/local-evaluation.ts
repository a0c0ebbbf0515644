// An evaluation as the local engine keeps it until its step is recorded.
import type { Evaluation } from '@svc/schemas'
import type { Decision } from '../../policy/evaluate.js'

/** An evaluation with the decision behind it; its passed results may be shared by all decisions. */
export type LocalEvaluation = Omit<Evaluation, 'policies' | 'violations'> &
  Pick<Decision, 'policies' | 'passed' | 'violations'> & {
    /** An act that was evaluated only when it was recorded: `svc.late` tells it from those that were evaluated before. */
    readonly is_late?: boolean
  }
