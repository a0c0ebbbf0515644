// Policies from the bundled baseline and from files.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { baseline } from '@svc/library'
import type { DroppedPolicy } from '@svc/schemas'
import { materialise, waivedUntil } from '../manifest/materialise.js'
import { type ManifestError, parseManifest } from '../manifest/parse.js'
import { compile, type PolicyInput } from '../policy/compile.js'
import { firstState, type LoadedPolicies, type ManifestInEffect, type Offer } from './source.js'

export interface FileSources {
  readonly baseline: boolean
  readonly paths: readonly string[]
  /** Whose waivers apply. */
  readonly agent_key: string | null
}

/**
 * Reads and compiles everything once. Throws when a path that was named cannot be read: a source somebody asked for
 * and did not get must not pass for an empty one.
 */
export function loadFiles(sources: FileSources, now: number): LoadedPolicies {
  const files = [...(sources.baseline ? [baselineFile()] : []), ...sources.paths.flatMap(filesAt)]
  const offer = offerOf(files, sources.agent_key)
  const set = compile(offer.policies)
  const dropped = [...offer.unreadable, ...set.dropped]
  const offered = set.offered + offer.unreadable.length
  const source = sources.paths.length === 0 ? 'baseline' : 'file'
  return {
    set,
    offered,
    dropped,
    load_state: firstState(offered, set.count),
    manifests: offer.manifests,
    source,
    loaded_at: now,
  }
}

interface PolicyFile {
  readonly source: 'baseline' | 'file'
  readonly path: string
  readonly text: string
  readonly sha: string
}

function baselineFile(): PolicyFile {
  const { path, text, blob_sha } = baseline()
  return { source: 'baseline', path, text, sha: blob_sha }
}

/** The file, or a folder's manifests: .yaml and .yml, not tests, not in dot-folders, with policies at the top. */
function filesAt(path: string): PolicyFile[] {
  if (!statSync(path).isDirectory()) return [readFile(path)]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  return names
    .filter((name) => /\.ya?ml$/.test(name) && !/\.test\.ya?ml$/.test(name) && !/(^|[\\/])\./.test(name))
    .map((name) => readFile(join(path, name)))
    .filter((file) => /^policies\s*:/m.test(file.text))
}

function readFile(path: string): PolicyFile {
  const bytes = readFileSync(path)
  const sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  return { source: 'file', path, text: bytes.toString('utf8'), sha }
}

/** Sound policies of all files, numbered in order; every error of a file is a policy that was offered and refused. */
function offerOf(files: readonly PolicyFile[], agent_key: string | null): Offer {
  const policies: PolicyInput[] = []
  const unreadable: DroppedPolicy[] = []
  const manifests: ManifestInEffect[] = []
  for (const { source, path, text, sha } of files) {
    const { value, errors } = parseManifest(text, path)
    unreadable.push(...droppedOf(errors))
    if (value === null) continue
    const made = materialise(value, { source, path, sha, agent: null, assigned_at: null, assigned_by: null })
    const waived = agent_key === null ? new Map<string, number>() : waivedUntil(value, agent_key)
    for (const policy of made.policies) {
      const until = waived.get(policy.name)
      policies.push({
        ...policy,
        id: policies.length + 1,
        version: 1,
        ...(until !== undefined && { waived_until: until }),
      })
    }
    manifests.push({ manifest_id: made.manifest_id, name: value.name, path, sha })
  }
  return { policies, unreadable, manifests }
}

/** One row for each policy that has errors, named by its place; errors outside policies are the file's. */
function droppedOf(errors: readonly ManifestError[]): DroppedPolicy[] {
  const rows = new Map<string, DroppedPolicy>()
  for (const { path, file, line, column, message } of errors) {
    const name = /^policies\.\d+/.exec(path)?.[0] ?? path.split('.')[0] ?? ''
    const key = name === '' ? file : name
    if (!rows.has(key)) rows.set(key, { name: key, reason: message, policy_id: null, source: file, line, column })
  }
  return [...rows.values()]
}
