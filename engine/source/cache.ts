// The last good policies of a platform on disk, so that a restart during an outage still governs (engine.md §6).
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type FetchedPolicies, policiesIn } from './fetch.js'

export interface PolicyCache {
  /** Null when there is none, or when what is there cannot be trusted to be one; `report` is told of the latter. */
  readonly read: () => FetchedPolicies | null
  readonly write: (fetched: FetchedPolicies) => void
  readonly remove: () => void
}

const format = 'svc.policies/1'

/** One file for each platform and agent, readable by its owner alone. The API key is never in it. */
export function policyCache(
  folder: string,
  url: string,
  agent_key: string,
  report: (line: string) => void,
): PolicyCache {
  const name = createHash('sha256').update(`${url}\0${agent_key}`).digest('hex').slice(0, 32)
  const path = join(folder, `policies-${name}.json`)
  const attempt = (what: string, act: () => void) => {
    try {
      act()
    } catch (error) {
      report(
        `the policy cache \`${path}\` cannot be ${what}: ${error instanceof Error ? error.message : String(error)}`,
      )
    }
  }
  return {
    read: () => {
      let found: FetchedPolicies | null = null
      attempt('used', () => {
        const text = readIfThere(path)
        if (text === null) return
        const { format: said, url: from, agent_key: whose, etag, body } = JSON.parse(text) as Record<string, unknown>
        if (said !== format || from !== url || whose !== agent_key) throw new Error('it belongs to something else')
        found = { etag: typeof etag === 'string' ? etag : null, body: policiesIn(body) }
      })
      return found
    },
    write: ({ etag, body }) =>
      attempt('written', () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        writeFileSync(`${path}.new`, JSON.stringify({ format, url, agent_key, etag, body }), { mode: 0o600 })
        renameSync(`${path}.new`, path)
      }),
    remove: () => attempt('removed', () => rmSync(path, { force: true })),
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
