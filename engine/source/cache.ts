// The last good policies of a platform on disk, so that a restart during an outage still governs (engine.md §6).
import { createHash, randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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
        replace(path, JSON.stringify({ format, url, agent_key, etag, fetched_at: at, body }))
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

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
}

/** The whole new text or the whole old one, also after a power cut, and when two engines write at once. */
function replace(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const fresh = `${path}.${randomUUID()}`
  try {
    const file = openSync(fresh, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(fresh, path)
  } catch (error) {
    rmSync(fresh, { force: true })
    throw error
  }
}
