// Policies from the bundled baseline and from files.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { baseline } from '@svc/library'
import type { DroppedPolicy, Manifest } from '@svc/schemas'
import { materialise, waivedUntil } from '../manifest/materialise.js'
import { type ManifestReading, parseManifest } from '../manifest/parse.js'
import { readYaml } from '../manifest/read-yaml.js'
import { compile, type PolicyInput } from '../policy/compile.js'
import { type LoadedPolicies, type ManifestInEffect, type Offer, type PolicySource, ungovernedLine } from './source.js'
import { firstState } from './state.js'

/** As many as one manifest may hold (engine.md §4). */
const mostPolicies = 1000

export interface FileSources {
  readonly baseline: boolean
  readonly paths: readonly string[]
  /** Whose waivers apply. */
  readonly agent_key: string | null
}

/** The last sound version of each file, by path. */
type SoundFiles = Map<string, PolicyFile>

/** How often files are looked at, ms. */
const lookEvery = 1000

/**
 * Files as a living source: a changed one is read again. One that became invalid, or is gone, keeps its last sound version
 * in force, and `report` and /health say so (engine.md §6). Throws when a path that was named cannot be read at first: a
 * source somebody asked for and did not get must not pass for an empty one.
 */
export function fileSource(sources: FileSources, clock: () => number, report: (line: string) => void): PolicySource {
  const sound: SoundFiles = new Map()
  let seen = signatureOf(sources.paths)
  let current = load(sources, sources.paths.flatMap(filesAt), sound, clock())
  const reload = async () => {
    seen = signatureOf(sources.paths)
    const before = current
    current = load(sources, sources.paths.flatMap(filesIfThere), sound, clock())
    tellChange(before, current, report)
    return current
  }
  const timer = setInterval(() => {
    if (sources.paths.length > 0 && signatureOf(sources.paths) !== seen) void reload()
  }, lookEvery)
  timer.unref()
  return { current: () => current, reload, close: async () => clearInterval(timer) }
}

function tellChange(before: LoadedPolicies, after: LoadedPolicies, report: (line: string) => void): void {
  report(`policies read again: ${after.load_state}, ${after.set.count} of ${after.offered} in effect`)
  const known = new Set(before.dropped.map(({ source, reason }) => `${source} ${reason}`))
  for (const { name, source, line, column, reason } of after.dropped) {
    if (known.has(`${source} ${reason}`)) continue
    report(`dropped \`${name}\` (${line === null ? source : `${source}:${line}:${column}`}): ${reason}`)
  }
  const ungoverned = ungovernedLine(after)
  if (ungoverned !== null && before.load_state !== after.load_state) report(ungoverned.replace(/^svc: /, ''))
}

function load(sources: FileSources, found: readonly PolicyFile[], sound: SoundFiles, now: number): LoadedPolicies {
  const files = [...(sources.baseline ? [baselineFile()] : []), ...found]
  const offer = offerOf(files, sources.agent_key, sound)
  const set = compile(offer.policies)
  const offered = set.offered + offer.unreadable.length
  return {
    ...{ set, offered, dropped: [...offer.unreadable, ...offer.remarks, ...set.dropped] },
    ...{ load_state: firstState(offered, set.count), manifests: offer.manifests, agent: null },
    source: sources.paths.length === 0 ? 'baseline' : 'file',
    ...{ stale: false, loaded_at: now, last_fetch_at: now, last_fetch_succeeded: true, expires_at: null },
  }
}

/** Changes when a file does, or comes, or goes. */
function signatureOf(paths: readonly string[]): string {
  const of = (path: string) => {
    const { mtimeMs, ctimeMs, size, ino } = statSync(path)
    return `${path} ${mtimeMs} ${ctimeMs} ${size} ${ino}`
  }
  return paths
    .flatMap((path) => {
      try {
        return manifestPaths(path).map(of)
      } catch {
        return [`${path} cannot be read`]
      }
    })
    .join('\n')
}

function filesIfThere(path: string): PolicyFile[] {
  try {
    return filesAt(path)
  } catch {
    return []
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

/** The file, or a folder's manifests, with policies at the top. */
function filesAt(path: string): PolicyFile[] {
  if (!statSync(path).isDirectory()) return [readFile(path)]
  return manifestPaths(path)
    .map(readFile)
    .filter(({ text }) => mayHavePolicies(text))
}

/** The file, or a folder's .yaml and .yml: not tests, not in dot-folders. */
function manifestPaths(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort()
  return names
    .filter((name) => /\.ya?ml$/.test(name) && !/\.test\.ya?ml$/.test(name) && !/(^|[\\/])\./.test(name))
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile())
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

/** Sound policies of all files, numbered in order, and what is wrong with the others; `sound` is brought up to date. */
function offerOf(files: readonly PolicyFile[], agent_key: string | null, sound: SoundFiles): Offer {
  const unreadable: DroppedPolicy[] = []
  const remarks: DroppedPolicy[] = []
  const usable: { readonly file: PolicyFile; readonly value: Manifest }[] = []
  for (const file of files) {
    const { path, text } = file
    const reading = parseManifest(text, path)
    const known = sound.get(path)
    const refused = refusedOf(reading, text, path)
    if (reading.errors.length === 0) sound.set(path, file)
    const kept = reading.errors.length === 0 || known === undefined ? null : parseManifest(known.text, path).value
    // What is in force is not given up for a version that is wrong; then nothing of it is missing, only named.
    if (kept !== null && known !== undefined) {
      remarks.push(...[...refused.policies, ...refused.others].map(lastVersionStays))
      usable.push({ file: known, value: kept })
      continue
    }
    unreadable.push(...refused.policies)
    remarks.push(...refused.others)
    if (reading.value !== null) usable.push({ file, value: reading.value })
  }
  for (const file of sound.values()) {
    if (files.some(({ path }) => path === file.path)) continue
    const { value } = parseManifest(file.text, file.path)
    if (value !== null) usable.push({ file, value })
    const nowhere = { policy_id: null, source: file.path, line: null, column: null }
    remarks.push(lastVersionStays({ name: file.path, reason: 'the file is gone or cannot be read', ...nowhere }))
  }
  return { ...numbered(usable, agent_key), unreadable, remarks }
}

function lastVersionStays(row: DroppedPolicy): DroppedPolicy {
  return { ...row, reason: `${row.reason} (the last sound version stays in force)` }
}

/** The policies in order, with ids from 1 and the waivers of the agent. */
function numbered(
  usable: readonly { readonly file: PolicyFile; readonly value: Manifest }[],
  agent_key: string | null,
) {
  const policies: PolicyInput[] = []
  const manifests: ManifestInEffect[] = []
  for (const { file, value } of usable) {
    const { source, path, sha } = file
    const made = materialise(value, { source, path, sha, agent: null, assigned_at: null, assigned_by: null })
    const waived = waivedUntil(value, agent_key)
    for (const policy of made.policies) {
      const until = waived.get(policy.name)
      const id = policies.length + 1
      policies.push({ ...policy, id, version: 1, ...(until !== undefined && { waived_until: until }) })
    }
    manifests.push({ manifest_id: made.manifest_id, name: value.name, path, sha })
  }
  return { policies, manifests }
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
