// Policies from the bundled baseline and from files, read again when they change.
import { baseline } from '@svc/library'
import { materialise, waivedUntil } from '../manifest/materialise.js'
import { compile, type PolicyInput } from '../policy/compile.js'
import { changeLines } from './changes.js'
import { type PolicyFile, readPolicyFiles, signatureOf } from './policy-files.js'
import type { LoadedPolicies, ManifestInEffect, PolicySource } from './source.js'
import { firstState } from './state.js'
import { readVersion, type Settled, settle, type Version } from './versions.js'

export interface FileSources {
  readonly baseline: boolean
  readonly paths: readonly string[]
  /** Whose waivers apply. */
  readonly agent_key: string | null
}

/** The wait between two looks at the files, ms, or this many times what the last one took: a large folder is costly. */
const lookEvery = 1000
const restPerLook = 20

/**
 * Files as a living source: a changed one is read again. One that became invalid, or is gone, keeps its last sound version
 * in force, and `report` and /health say so (engine.md §6). Rejects when a path that was named cannot be read at first: a
 * source somebody asked for and did not get must not pass for an empty one.
 */
export async function fileSource(
  sources: FileSources,
  clock: () => number,
  report: (line: string) => void,
): Promise<PolicySource> {
  const { paths } = sources
  let seen = await signatureOf(paths)
  let settled = settle(await readPolicyFiles(paths, refuse), new Map())
  let current = load(sources, settled, clock())
  let turn: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let closed = false

  const readAgain = async () => {
    seen = await signatureOf(paths)
    settled = settle(await readPolicyFiles(paths, leaveOut), settled.versions)
    const before = current
    current = load(sources, settled, clock())
    report(`policies read again: ${current.load_state}, ${current.set.count} of ${current.offered} in effect`)
    for (const line of changeLines(before, current)) report(line)
    return current
  }
  /** One after the other, so that whoever asks gets what was on disk after asking. */
  const reload = () => {
    const result = turn.then(readAgain)
    turn = result.catch(() => undefined)
    return result
  }
  const tellFailure = (error: unknown) => report(`policies could not be read again: ${String(error)}`)
  const look = async () => {
    const start = performance.now()
    await turn
    if ((await signatureOf(paths)) !== seen && !closed) await reload().catch(tellFailure)
    plan((performance.now() - start) * restPerLook)
  }
  const plan = (rest: number) => {
    if (closed || paths.length === 0) return
    timer = setTimeout(look, Math.max(lookEvery, rest))
    timer.unref()
  }

  plan(0)
  return {
    current: () => current,
    reload,
    close: async () => {
      closed = true
      if (timer !== null) clearTimeout(timer)
      await turn
    },
  }
}

function refuse(error: unknown): never {
  throw error
}

/** What cannot be read later on counts as gone: its last sound version stays. */
function leaveOut(): void {}

function load({ baseline, paths, agent_key }: FileSources, settled: Settled, now: number): LoadedPolicies {
  const versions = [...(baseline ? [readVersion(baselineFile())] : []), ...settled.versions.values()]
  const { policies, manifests } = numbered(versions, agent_key)
  const set = compile(policies)
  const unreadable = versions.flatMap(({ refused }) => refused.policies)
  const remarks = [...versions.flatMap(({ refused }) => refused.others), ...settled.remarks]
  const offered = set.offered + unreadable.length
  return {
    ...{ set, offered, dropped: [...unreadable, ...remarks, ...set.dropped] },
    ...{ load_state: firstState(offered, set.count), manifests, agent: null },
    source: paths.length === 0 ? 'baseline' : 'file',
    ...{ stale: false, loaded_at: now, last_fetch_at: now, last_fetch_succeeded: true, expires_at: null },
  }
}

function baselineFile(): PolicyFile {
  const { path, text, blob_sha } = baseline()
  return { source: 'baseline', path, text, sha: blob_sha, named: true }
}

/** The sound policies in order, with ids from 1 and the waivers of the agent. */
function numbered(versions: readonly Version[], agent_key: string | null) {
  const policies: PolicyInput[] = []
  const manifests: ManifestInEffect[] = []
  for (const { file, value } of versions) {
    if (value === null) continue
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
