// Jobs that GitHub asks to wait run again after that time; other failures are repeated with growing delays.
import { SourceError } from '@svc/platform'
import { GithubError } from './errors.js'

/** Windows of the rate limit last an hour. */
const maxWaitSeconds = 7200

/** Calls `again` with the seconds to wait instead of rejecting when GitHub asks for a wait. */
export async function asJob(work: Promise<void>, again: (after_seconds: number) => Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    const wait = error instanceof GithubError || error instanceof SourceError ? error.retry_after : null
    if (wait === null) throw error
    await again(Math.min(Math.max(wait, 1), maxWaitSeconds))
  }
}
