// Steps straight onto a platform: a few runs at a time, each in order, and safe to send again.
import type { BatchAnswer, Behavior } from '@svc/schemas'
import { createCounts } from './counts.js'
import { postJson } from './post-json.js'
import type { ImportState } from './state.js'
import type { ImportTarget } from './target.js'

export interface Platform {
  /** Without a slash at its end. */
  readonly url: string
  readonly api_key: string
}

/** Runs under way at once. A run has one batch under way, so its steps arrive in order. */
const runsAtOnce = 4
const batchSize = 200
/** Characters of a batch: a platform reads 8 MiB (docs/design/platform.md §6), and a character takes up to 3 bytes. */
const batchLength = 2 * 1024 * 1024
/** Refusals that are about the steps; after any other nothing can be sent. */
const aboutSteps = [400, 409, 413, 422]

export function createPlatformTarget(to: Platform, state: ImportState): ImportTarget {
  const under_way = new Set<Promise<void>>()
  const counts = createCounts()
  let stopped: unknown = null

  const send = async (line: number, steps: readonly Behavior[]) => {
    for (const part of partsOf(steps)) {
      const posted = await postBatch(to, part)
      if (posted.refusal === null) counts.addAnswers(line, part, posted.answer)
      else if (aboutSteps.includes(posted.refusal.status)) counts.addRefusal(line, part, posted.refusal.message)
      else throw new Error(posted.refusal.message)
    }
    if (!counts.hasFailed(line)) state.done(line)
  }

  return {
    begin: async ({ agent_key, declared_tools }) => {
      const agent = { agent_key, name: agent_key, declared_tools }
      const { refusal } = await postJson(`${to.url}/api/v1/agents`, to.api_key, agent)
      if (refusal !== null) throw new Error(refusal.message)
    },
    has: (line) => state.has(line),
    put: async (line, steps) => {
      if (under_way.size >= runsAtOnce) await Promise.race(under_way)
      if (stopped !== null) throw stopped
      const sending: Promise<void> = send(line, steps)
        .catch((error: unknown) => {
          stopped = error
        })
        .finally(() => under_way.delete(sending))
      under_way.add(sending)
    },
    finish: async () => {
      await Promise.all(under_way)
      if (stopped !== null) throw stopped
      const total = counts.total()
      if (total.failed_runs === 0) state.clear()
      return total
    },
  }
}

/** A run in batches that the platform can take; a step too large for any is sent alone, for the platform to say so. */
function* partsOf(steps: readonly Behavior[]): Generator<Behavior[]> {
  let part: Behavior[] = []
  let length = 0
  for (const step of steps) {
    const own = JSON.stringify(step).length
    if (part.length > 0 && (part.length >= batchSize || length + own > batchLength)) {
      yield part
      part = []
      length = 0
    }
    part.push(step)
    length += own
  }
  yield part
}

/** Sends steps until the platform has an answer to each; one that could not be stored just now is sent again. */
function postBatch({ url, api_key }: Platform, steps: readonly Behavior[]) {
  const complete = ({ results }: Partial<BatchAnswer>) =>
    results?.length === steps.length && results.every(({ status }) => status !== 429 && status !== 503)
  return postJson<BatchAnswer>(`${url}/api/v1/logs/batch`, api_key, { entries: steps.map(toEntry) }, complete)
}

/** A Behavior as a log entry: the agent is named by its own key. */
function toEntry({ agent_id, ...step }: Behavior) {
  return { ...step, agent_key: agent_id }
}
