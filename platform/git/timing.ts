// When a branch is read again.
import type { ReadingParts } from './parts.js'

const firstRetrySeconds = 30
const maxWaitSeconds = 3600

/**
 * ms since 1970: after the interval ± 20 %; after failures half a minute, doubled with each one, up to an hour. A host may ask for a
 * longer wait, up to the same limit.
 */
export function nextCheckAfter(
  { resync_seconds, random }: Pick<ReadingParts, 'resync_seconds' | 'random'>,
  now: number,
  failures: number,
  retry_after: number | null,
): number {
  const backoff = firstRetrySeconds * 2 ** Math.min(failures - 1, 20)
  const seconds = failures === 0 ? resync_seconds : Math.min(maxWaitSeconds, backoff)
  const least = Math.min(retry_after ?? 0, maxWaitSeconds)
  return Math.round(now + 1000 * Math.max(seconds * (0.8 + 0.4 * random()), least))
}
