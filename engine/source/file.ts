// Policies from the bundled baseline and from files.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { baseline } from '@svc/library'
import type { DroppedPolicy } from '@svc/schemas'
import { materialise, waivedUntil } from '../manifest/materialise.js'
import { type ManifestReading, parseManifest } from '../manifest/parse.js'
import { readYaml } from '../manifest/read-yaml.js'
import { compile, type PolicyInput } from '../policy/compile.js'
import {
  afterReload,
  firstState,
  type LoadedPolicies,
  type ManifestInEffect,
  type Offer,
  type PolicySource,
} from './source.js'

/** As many as one manifest may hold (engine.md §4). */
const mostPolicies = 1000

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
  const dropped = [...offer.unreadable, ...offer.remarks, ...set.dropped]
  const offered = set.offered + offer.unreadable.length
  const source = sources.paths.length === 0 ? 'baseline' : 'file'
  return {
    set,
    offered,
    dropped,
    load_state: firstState(offered, set.count),
    manifests: offer.manifests,
    source,
    ...{ agent: null, stale: false, loaded_at: now, last_fetch_at: now, last_fetch_succeeded: true, expires_at: null },
  }
}

/**
 * Files as a living source: `reload` reads them again. Where nothing of them can be used any more the set that is in force
 * stays, and `report` says so (engine.md §6). Throws, as `loadFiles` does, when the first reading fails.
 */
export function fileSource(sources: FileSources, clock: () => number, report: (line: string) => void): PolicySource {
  let current = loadFiles(sources, clock())
  return {
    current: () => current,
    reload: async () => {
      current = afterReload(current, readAgain(sources, clock), clock(), report)
      return current
    },
    close: async () => undefined,
  }
}

function readAgain(sources: FileSources, clock: () => number): LoadedPolicies | Error {
  try {
    return loadFiles(sources, clock())
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
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
    .filter((name) => statSync(join(path, name)).isFile())
    .map((name) => readFile(join(path, name)))
    .filter(({ text }) => mayHavePolicies(text))
}

/** A file that cannot be read as YAML is taken for a manifest when it looks like one: it must not vanish silently. */
function mayHavePolicies(text: string): boolean {
  const { value, problems } = readYaml(text)
  if (problems.length > 0) return /^[\s{]*["']?policies["']?\s*:/m.test(text)
  return typeof value === 'object' && value !== null && Object.hasOwn(value, 'policies')
}

function readFile(path: string): PolicyFile {
  const bytes = readFileSync(path)
  const sha = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
  return { source: 'file', path, text: bytes.toString('utf8'), sha }
}

/** Sound policies of all files, numbered in order, and what is wrong with the others. */
function offerOf(files: readonly PolicyFile[], agent_key: string | null): Offer {
  const policies: PolicyInput[] = []
  const unreadable: DroppedPolicy[] = []
  const remarks: DroppedPolicy[] = []
  const manifests: ManifestInEffect[] = []
  for (const { source, path, text, sha } of files) {
    const reading = parseManifest(text, path)
    const refused = refusedOf(reading, text, path)
    unreadable.push(...refused.policies)
    remarks.push(...refused.others)
    const { value } = reading
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
  return { policies, unreadable, remarks, manifests }
}

/**
 * One row for each policy that is not in effect, by its name; for a manifest that cannot be used these are all of its
 * policies. Errors elsewhere, such as in a waiver, cost no policy: they are named without being counted.
 */
function refusedOf({ value, errors }: ManifestReading, text: string, file: string) {
  const first = new Map<string, DroppedPolicy>()
  for (const { path, line, column, message } of errors) {
    const place = /^policies\.\d+/.exec(path)?.[0] ?? path.split('.').slice(0, 2).join('.')
    const row = { name: place === '' ? file : place, reason: message, policy_id: null, source: file, line, column }
    if (!first.has(place)) first.set(place, row)
  }
  const rows = [...first.entries()]
  const others = rows.filter(([place]) => !/^policies\.\d/.test(place)).map(([, row]) => row)
  const names = errors.length === 0 ? [] : policyNames(text)
  if (value === null && names.length === 0) return { policies: others.slice(0, 1), others: others.slice(1) }
  const [cause] = others
  const policies = names.flatMap((name, index) => {
    const own = first.get(`policies.${index}`)
    if (own !== undefined) return [{ ...own, name }]
    return value === null && cause !== undefined ? [{ ...cause, name }] : []
  })
  return { policies, others: value === null ? [] : others }
}

/** What the policies of a manifest are called, as far as that can be told; more than a manifest may hold is not. */
function policyNames(text: string): string[] {
  const { policies } = (readYaml(text).value ?? {}) as { policies?: unknown }
  if (!Array.isArray(policies) || policies.length > mostPolicies) return []
  return policies.map((policy: unknown, index) => {
    const name = typeof policy === 'object' && policy !== null && 'name' in policy ? policy.name : undefined
    return typeof name === 'string' && name !== '' ? name : `policies.${index}`
  })
}
