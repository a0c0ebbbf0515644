// The last good policies of a platform on disk, so that a restart during an outage still governs (docs/design/engine.md §6).
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '../files/durable-file.js'
import { type FetchedPolicies, policiesIn } from './fetch.js'

export interface PolicyCache {
  /** Null when there is none, or when what is there cannot be trusted to be one; `report` is told of the latter. */
  readonly read: () => FetchedPolicies | null
  readonly write: (fetched: FetchedPolicies) => void
  readonly remove: () => void
}

const format = 'svc.policies/1'

/** A file for one platform and agent; `what` is kept there. */
export function keptFor(folder: string, what: string, url: string, agent_key: string): string {
  const name = createHash('sha256').update(`${url}\0${agent_key}`).digest('hex').slice(0, 32)
  return join(folder, `${what}-${name}.json`)
}

/** One file for each platform and agent, readable by its owner alone. The API key is never in it. */
export function policyCache(
  folder: string,
  url: string,
  agent_key: string,
  report: (line: string) => void,
): PolicyCache {
  const path = keptFor(folder, 'policies', url, agent_key)
  const attempt = <T>(what: string, act: () => T): T | null => {
    try {
      return act()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      report(`the policy cache \`${path}\` cannot be ${what}: ${reason}`)
      return null
    }
  }
  return {
    read: () =>
      attempt('used', () => {
        const text = readIfThere(path)
        return text === null ? null : cachedIn(text, url, agent_key)
      }),
    write: ({ etag, body, fetched_at }) =>
      attempt('written', () => {
        const at = new Date(fetched_at).toISOString()
        replaceFile(path, JSON.stringify({ format, url, agent_key, etag, fetched_at: at, body }))
      }),
    remove: () => attempt('removed', () => rmSync(path, { force: true })),
  }
}

/** Throws when it is no cache, or that of another platform or agent. */
function cachedIn(text: string, url: string, agent_key: string): FetchedPolicies {
  const cached = parsed(text)
  if (cached.format !== format) throw new Error('it is damaged or from another version')
  if (cached.url !== url || cached.agent_key !== agent_key) throw new Error('it belongs to something else')
  const fetched_at = Date.parse(String(cached.fetched_at))
  if (Number.isNaN(fetched_at)) throw new Error('it does not say when it was fetched')
  return { etag: typeof cached.etag === 'string' ? cached.etag : null, body: policiesIn(cached.body), fetched_at }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}
