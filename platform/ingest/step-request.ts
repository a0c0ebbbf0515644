// A step as the write queue takes it from every route.
import type { LogRequest } from '@svc/schemas'

/** A step to append. Without a number it gets the next one of its task. */
export type StepRequest = Omit<LogRequest, 'step' | 'step_number'> &
  Partial<Pick<LogRequest, 'step' | 'step_number'>> & {
    /**
     * Ids by which a sender without step numbers recognises the step within its task. The first one is its identity: a step
     * whose identity is known is not appended again.
     */
    readonly origins?: readonly string[]
    /**
     * An origin of the same step as another part of its sender may have shown it before. A step with this origin stands for
     * the first step that names it here; that one is not appended.
     */
    readonly same_as?: string
  }
