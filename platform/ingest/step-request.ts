// A step as the write queue takes it from every route.
import type { LogRequest } from '@svc/schemas'

/** The members of a type that are named. */
type Named<T> = { [Key in keyof T as string extends Key ? never : Key]: T[Key] }

/** A step to append. Without a number it gets the next one of its task. */
export type StepRequest = Omit<Named<LogRequest>, 'step' | 'step_number'> &
  Partial<Pick<Named<LogRequest>, 'step' | 'step_number'>> & {
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
    /** Warnings of the answer about members that are not those of a step. */
    readonly warnings?: readonly string[]
    /** The step is of the trace of an engine, which is evidence: it is appended also for an agent that is deactivated. */
    readonly traced?: true
  }
