// The last valid policies of a platform on disk, so that an engine restarted during an outage enforces them
// (docs/design/engine.md §6).
import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '@svc/proof'
import { isoTime } from '@svc/schemas'
import { readIfThere, replaceFile } from '../files/durable-file.js'
import { type FetchedPolicies, policiesIn } from './fetch.js'

export interface PolicyCache {
  /** Null for a missing or invalid cache; an invalid one is reported. */
  readonly read: () => FetchedPolicies | null
  readonly write: (fetched: FetchedPolicies) => void
  readonly remove: () => void
}

const format = 'svc.policies/1'

/** The file for one platform and agent; its name begins with `kind`. */
export function cachePath(folder: string, kind: string, url: string, agent_key: string): string {
  const name = createHash('sha256').update(`${url}\0${agent_key}`).digest('hex').slice(0, 32)
  return join(folder, `${kind}-${name}.json`)
}

/** One file for each platform and agent, readable by its owner alone. It never contains the API key. */
export function policyCache(
  folder: string,
  url: string,
  agent_key: string,
  report: (line: string) => void,
): PolicyCache {
  const path = cachePath(folder, 'policies', url, agent_key)
  const attempt = <T>(verb: string, act: () => T): T | null => {
    try {
      return act()
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      report(`the policy cache \`${path}\` cannot be ${verb}: ${reason}`)
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
        const at = isoTime(fetched_at)
        replaceFile(path, JSON.stringify({ format, url, agent_key, etag, fetched_at: at, body }))
      }),
    remove: () => attempt('removed', () => rmSync(path, { force: true })),
  }
}

/** Throws for an invalid cache, or one of another platform or agent. */
function cachedIn(text: string, url: string, agent_key: string): FetchedPolicies {
  const cached = parsed(text)
  if (cached.format !== format) throw new Error('it is damaged or from another version')
  if (cached.url !== url || cached.agent_key !== agent_key) throw new Error('it belongs to another platform or agent')
  const fetched_at = Date.parse(String(cached.fetched_at))
  if (Number.isNaN(fetched_at)) throw new Error('`fetched_at` is not a time')
  return { etag: typeof cached.etag === 'string' ? cached.etag : null, body: policiesIn(cached.body), fetched_at }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return Object(parseJson(text)) as Record<string, unknown>
  } catch {
    return {}
  }
}
