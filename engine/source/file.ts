// Policies from files, with or without the bundled baseline, reloaded when the files change.
import { printable } from '@svc/proof'
import { baselineVersion } from './baseline.js'
import { changeLines } from './changes.js'
import { loadVersions } from './load.js'
import { readPolicyFiles, signatureOf } from './policy-files.js'
import type { LoadedPolicies, PolicySource } from './source.js'
import { type Settled, settle } from './versions.js'

export interface FileSources {
  readonly baseline: boolean
  readonly paths: readonly string[]
  /** The agent whose waivers apply. */
  readonly agent_key: string | null
  /** The engine blocks while no policy is in effect. */
  readonly fail_closed: boolean
}

/** Time between two checks of the files, at least this many times the duration of the last one: a large folder is costly. */
const checkIntervalMs = 1000
const minRestFactor = 20

/**
 * Watches files. The last valid version of a file that becomes invalid or is removed stays in effect, and is reported to
 * `report` and /health (docs/design/engine.md §6). Rejects when at the start a path cannot be read or a file is not a
 * manifest: an engine without these policies would allow what they forbid.
 */
export async function fileSource(
  sources: FileSources,
  clock: () => number,
  report: (line: string) => void,
): Promise<PolicySource> {
  const { paths, fail_closed } = sources
  let seen = await signatureOf(paths)
  let settled = settle(await readPolicyFiles(paths, rethrow), new Map())
  assertManifests(settled)
  let current = load(sources, settled, clock())
  let lastReload: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | null = null
  let closed = false

  const readAgain = async () => {
    seen = await signatureOf(paths)
    settled = settle(await readPolicyFiles(paths, skip), settled.versions)
    const before = current
    current = load(sources, settled, clock())
    report(`policies reloaded: ${current.load_state}, ${current.set.count} of ${current.offered} in effect`)
    for (const line of changeLines(before, current, fail_closed)) report(line)
    return current
  }
  /** Reloads run one after the other, so that each caller gets the files as they are after its call. */
  const reload = () => {
    const result = lastReload.then(readAgain)
    lastReload = result.catch(() => undefined)
    return result
  }
  const reportFailure = (error: unknown) => report(`policies could not be reloaded: ${String(error)}`)
  const check = async () => {
    const start = performance.now()
    await lastReload
    if ((await signatureOf(paths)) !== seen && !closed) await reload().catch(reportFailure)
    schedule((performance.now() - start) * minRestFactor)
  }
  const schedule = (rest: number) => {
    if (closed) return
    timer = setTimeout(check, Math.max(checkIntervalMs, rest))
    timer.unref()
  }

  schedule(0)
  return {
    current: () => current,
    reload,
    close: async () => {
      closed = true
      if (timer !== null) clearTimeout(timer)
      await lastReload
    },
  }
}

function rethrow(error: unknown): never {
  throw error
}

/** The maximum number of findings in an error. */
const maxListed = 20

/** Throws with a line for each finding when a file is not a manifest. */
function assertManifests({ versions }: Settled): void {
  const findings = [...versions.values()].filter(({ rejected }) => rejected.whole).flatMap(({ errors }) => errors)
  if (findings.length === 0) return
  const lines = findings.map(({ file, line, column, message }) => printable(`${file}:${line}:${column}: ${message}`))
  const more = lines.length > maxListed ? [`and ${lines.length - maxListed} more`] : []
  throw new Error(
    ['a policy file cannot be used, so the engine does not start', ...lines.slice(0, maxListed), ...more].join('\n'),
  )
}

/** A file that cannot be read later counts as removed: its last valid version stays in effect. */
function skip(): void {}

function load({ baseline, agent_key }: FileSources, { versions, remarks }: Settled, now: number): LoadedPolicies {
  const all = [...(baseline ? [baselineVersion()] : []), ...versions.values()]
  return loadVersions('file', all, remarks, agent_key, now)
}
