// The lines of a manifest that a policy comes from, at the version that is in force.
import type { Assignment, AssignmentSource, Policy } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { api } from '../../paths.js'
import type { Visit } from '../../visit.js'

export interface ManifestSource {
  readonly assignment: Assignment
  /** A commit that has the version; null for an unknown one. */
  readonly commit_sha: string | null
  /** The first line of the policy, 1-based. */
  readonly line: number
  /** Its YAML. */
  readonly text: string
  /** Its page at GitHub, at this version; null for other sources. */
  readonly href: string | null
}

/** Reads the source of a policy of a manifest; null for another one, and for a text that is not kept. */
export async function manifestSourceOf({ api: { read } }: Visit, policy: Policy): Promise<ManifestSource | null> {
  const { manifest_id, manifest_sha: sha, agent_id, name } = policy
  if (manifest_id === null || agent_id === null || sha === null) return null
  const { assignments } = await read('assignment-list', '/api/v1/assignments', { agent_id, limit: '200' })
  const assignment = assignments.find((one) => one.manifest_id === manifest_id)
  if (assignment === undefined) return null
  const path = api`/api/v1/assignments/${assignment.id}/source`
  const source = await read('assignment-source', path, { sha }).catch(notFound)
  const line = source?.lines[name]
  if (source === null || line === undefined) return null
  const href = source.web_url === null ? null : `${source.web_url}#L${line}`
  return { assignment, commit_sha: source.commit_sha, line, text: linesOf(source, line), href }
}

/** Null for what is not there. */
export function notFound(error: unknown): null {
  if (error instanceof PlatformError && ['NOT_FOUND', 'INVALID'].includes(error.code)) return null
  throw error
}

/** The lines up to the next policy. */
function linesOf({ text, lines }: AssignmentSource, first: number): string {
  const after = Object.values(lines).filter((line) => line > first)
  const found = text.split('\n').slice(first - 1, after.length === 0 ? undefined : Math.min(...after) - 1)
  // What follows the last policy of a file, such as waivers, is not indented.
  const end = found.findIndex((line, index) => index > 0 && /^[a-z]/i.test(line))
  return found
    .slice(0, end === -1 ? undefined : end)
    .join('\n')
    .trimEnd()
}
