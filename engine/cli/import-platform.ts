// Steps straight onto a platform: a few runs at a time, each in order, and safe to send again.
import type { BatchAnswer, BatchResult, Behavior } from '@svc/schemas'
import { openImportState } from './import-state.js'
import type { ImportTarget, PlatformImport } from './import-target.js'
import { postJson } from './post-json.js'

/** Steps in one request, and runs under way at once: enough to fill a group commit (log.md §2). */
const batchSize = 250
const runsAtOnce = 8

export function createPlatformTarget(to: PlatformImport): ImportTarget {
  const state = openImportState(to)
  const under_way = new Set<Promise<void>>()
  const failures: string[] = []
  const violations: Record<string, number> = {}
  const would_block: Record<string, number> = {}
  const count = { steps: 0, created: 0, replayed: 0 }
  let stopped: unknown = null

  const note = (line: number, step: Behavior, result: BatchResult) => {
    count.steps++
    if (result.status === 201) count.created++
    else if (result.status === 200) count.replayed++
    else failures.push(`line ${line + 1}, step ${step.step}: ${result.problem?.detail ?? `status ${result.status}`}`)
    for (const violation of result.entry?.violations ?? []) {
      violations[violation.name] = (violations[violation.name] ?? 0) + 1
      const blocks = violation.severity === 'critical' && violation.mode === 'enforce' && !violation.waived
      if (blocks) would_block[violation.name] = (would_block[violation.name] ?? 0) + 1
    }
  }

  const send = async (line: number, steps: readonly Behavior[]) => {
    const before = failures.length
    for (let from = 0; from < steps.length; from += batchSize) {
      const part = steps.slice(from, from + batchSize)
      const { results } = await postBatch(to, part)
      for (const [index, step] of part.entries()) note(line, step, results[index] ?? { status: 0 })
    }
    if (failures.length === before) state.done(line)
  }

  return {
    begin: async ({ agent_key, declared_tools }) => {
      await postJson(`${to.url}/api/v1/agents`, to.api_key, { agent_key, declared_tools })
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
      if (failures.length === 0) state.clear()
      return { ...count, failures, violations, would_block }
    },
  }
}

/** Sends steps until the platform has an answer to each; one that could not be stored just now is sent again. */
async function postBatch({ url, api_key }: PlatformImport, steps: readonly Behavior[]): Promise<BatchAnswer> {
  const body = { entries: steps.map(toEntry) }
  const accept = (answer: BatchAnswer) => answer.results.every(({ status }) => status < 500)
  return postJson<BatchAnswer>(`${url}/api/v1/logs/batch`, api_key, body, accept)
}

/** A Behavior as a log entry: the agent is named by its own key. */
function toEntry({ agent_id, ...step }: Behavior) {
  return { ...step, agent_key: agent_id }
}
