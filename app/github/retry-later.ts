// Jobs that cannot reach GitHub, or that GitHub asks to wait, run again later; other failures are repeated by the queue.
import { type Ground, SourceError } from '@svc/platform'

/** Windows of the rate limit last an hour. */
const maxWaitSeconds = 7200
/** Between two tries without an answer. */
const maxBackoffSeconds = 300
/** About a day of tries. */
const maxTries = 300

export interface Repeats {
  /**
   * Calls `again` with the seconds to wait instead of rejecting when GitHub asks for a wait or does not answer; `tries`: how often
   * it was called for this work before.
   */
  readonly asJob: (
    work: Promise<void>,
    again: (after_seconds: number) => Promise<void>,
    tries?: number,
  ) => Promise<void>
}

/** Warns when GitHub does not answer, once until it does. */
export function createRepeats(logger: Pick<Ground['logger'], 'warn' | 'info'>): Repeats {
  let isAway = false
  return {
    asJob: async (work, again, tries = 0) => {
      try {
        await work
        if (isAway) logger.info('GitHub answers again')
        isAway = false
      } catch (error) {
        const wait = tries < maxTries ? secondsToWait(error, tries) : null
        if (wait === null) throw error
        if (!isAway) logger.warn(`${(error as Error).message}: ${remedy}`)
        isAway = true
        await again(Math.min(Math.max(wait, 1), maxWaitSeconds))
      }
    },
  }
}

const remedy =
  'what waits for GitHub runs again by itself. If this stays, check that this machine reaches the address in SVC_GITHUB_API_URL (https://api.github.com by default) and https://www.githubstatus.com'

/** Null for what another try does not heal, and for errors of the platform. */
function secondsToWait(error: unknown, tries: number): number | null {
  if (!(error instanceof SourceError)) return null
  if (error.retry_after !== null) return error.retry_after
  return error.code === 'fetch_failed' ? Math.min(maxBackoffSeconds, 2 ** Math.min(tries + 1, 16)) : null
}
