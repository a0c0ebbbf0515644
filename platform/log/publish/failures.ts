// Failures of work that is repeated: one line for each cause, not for each attempt; the outage of a database has its own line.
import type { Logger } from 'pino'
import { failureKind } from '../../db/failure.js'
import { PlatformError } from '../../errors.js'

export interface Failures {
  readonly failed: (error: unknown) => void
  /** An attempt succeeded. */
  readonly ended: () => void
}

export function reportFailures(logger: Logger, text: string): Failures {
  let reported: string | null = null
  return {
    failed: (error) => {
      const message = String(error)
      if (message !== reported && (!(error instanceof PlatformError) || failureKind(error) === 'other'))
        logger.error({ err: error }, text)
      reported = message
    },
    ended: () => {
      reported = null
    },
  }
}
