// Steps to a platform: several runs at once, the steps of each in order. A step that is sent again is not stored again.
import type { BatchAnswer, Behavior } from '@svc/schemas'
import { createCounts } from './counts.js'
import { type Endpoint, postJson } from './post-json.js'
import type { ImportTarget } from './target.js'

export interface Platform {
  /** Without a trailing slash. */
  readonly url: string
  readonly api_key: string
}

/** Runs that are sent at once. A run has one open request, so its steps arrive in order. */
const maxOpenRuns = 4
const maxBatchSteps = 200
/** A platform reads 8 MiB (docs/design/platform.md §6), and a character has up to 3 bytes. */
const maxBatchCharacters = 2 * 1024 * 1024
/** ms */
const answerTimeoutMs = 60_000
/** Statuses that reject these steps only; after any other the import cannot continue. */
const stepStatuses = [400, 409, 413, 422]

export function createPlatformTarget(platform: Platform, report: (text: string) => void): ImportTarget {
  const to = { ...platform, report }
  const open = new Set<Promise<void>>()
  const counts = createCounts()
  /** The last request of each run that is open: the next steps of the run follow it. */
  const last = new Map<string, Promise<void>>()
  let failure: unknown = null

  const send = async (place: string, steps: readonly Behavior[]) => {
    for (const part of partsOf(steps)) {
      const posted = await postBatch(to, part)
      if (posted.rejection === null) counts.addAnswers(place, part, posted.answer)
      else if (stepStatuses.includes(posted.rejection.status))
        counts.addRejection(place, part, posted.rejection.message)
      else throw new Error(posted.rejection.message)
    }
  }

  return {
    begin: async (agents) => {
      for (const { keeps_registration, ...agent } of agents) {
        if (keeps_registration && (await isKnown(to, agent.agent_key))) continue
        const { rejection } = await postJson(to, '/api/v1/agents', agent)
        if (rejection !== null) throw new Error(rejection.message)
      }
    },
    put: async (place, steps) => {
      if (open.size >= maxOpenRuns) await Promise.race(open)
      if (failure !== null) throw failure
      const before = last.get(place) ?? Promise.resolve()
      const sending: Promise<void> = before
        .then(() => send(place, steps))
        .catch((error: unknown) => {
          failure = error
        })
        .finally(() => {
          open.delete(sending)
          if (last.get(place) === sending) last.delete(place)
        })
      open.add(sending)
      last.set(place, sending)
    },
    finish: async () => {
      await Promise.all(open)
      if (failure !== null) throw failure
      return counts.total()
    },
  }
}

/** True for an agent that the platform knows. In doubt it is registered, and the registration reports a fault. */
async function isKnown({ url, api_key }: Platform, agent_key: string): Promise<boolean> {
  const address = `${url}/api/v1/policies/effective?agent_key=${encodeURIComponent(agent_key)}`
  const headers = { authorization: `Bearer ${api_key}` }
  try {
    const { ok, body } = await fetch(address, {
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(answerTimeoutMs),
    })
    await body?.cancel()
    return ok
  } catch {
    return false
  }
}

/** The steps in batches that the platform accepts; a step that is too large is sent alone, and the platform rejects it. */
function* partsOf(steps: readonly Behavior[]): Generator<Behavior[]> {
  let part: Behavior[] = []
  let length = 0
  for (const step of steps) {
    const own = JSON.stringify(step).length
    if (part.length > 0 && (part.length >= maxBatchSteps || length + own > maxBatchCharacters)) {
      yield part
      part = []
      length = 0
    }
    part.push(step)
    length += own
  }
  yield part
}

/** Sends steps until the platform has a final answer to each; 429 and 503 are sent again. */
function postBatch(to: Endpoint, steps: readonly Behavior[]) {
  const complete = ({ results }: Partial<BatchAnswer>) =>
    results?.length === steps.length && results.every(({ status }) => status !== 429 && status !== 503)
  return postJson<BatchAnswer>(to, '/api/v1/logs/batch', { entries: steps.map(toEntry) }, complete)
}

/** A Behavior as a log entry, with the agent by its key. */
function toEntry({ agent_id, ...step }: Behavior) {
  return { ...step, agent_key: agent_id }
}
