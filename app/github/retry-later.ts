// Jobs that GitHub asks to wait run again after that time; other failures are repeated with growing delays.
import { GithubError } from './errors.js'

const maxWaitSeconds = 3600

/** Calls `again` with the seconds to wait instead of rejecting when GitHub asks for a wait. */
export async function asJob(work: Promise<void>, again: (after_seconds: number) => Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    const wait = error instanceof GithubError ? error.retry_after : null
    if (wait === null) throw error
    await again(Math.min(Math.max(wait, 1), maxWaitSeconds))
  }
}
