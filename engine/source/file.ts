// Policies from files, with the bundled baseline or without, read again when they change.
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
  /** Whose waivers apply. */
  readonly agent_key: string | null
}

/** The wait between two looks at the files, ms, or this many times what the last one took: a large folder is costly. */
const lookEvery = 1000
const restPerLook = 20

/**
 * Files as a living source: a changed one is read again. One that became invalid, or is gone, keeps its last sound version
 * in force, and `report` and /health say so (docs/design/engine.md §6). Rejects when at first a path cannot be read, or a file is not a
 * manifest: a start without the policies that were asked for would allow what they forbid.
 */
export async function fileSource(
  sources: FileSources,
  clock: () => number,
  report: (line: string) => void,
): Promise<PolicySource> {
  const { paths } = sources
  let seen = await signatureOf(paths)
  let settled = settle(await readPolicyFiles(paths, refuse), new Map())
  assertManifests(settled)
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
    if (closed) return
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

/** How many findings are listed; the others follow when these are gone. */
const maxListed = 20

/** Throws with a line for each finding when a file is not a manifest at all. */
function assertManifests({ versions }: Settled): void {
  const findings = [...versions.values()].filter(({ refused }) => refused.whole).flatMap(({ errors }) => errors)
  if (findings.length === 0) return
  const lines = findings.map(({ file, line, column, message }) => printable(`${file}:${line}:${column}: ${message}`))
  const more = lines.length > maxListed ? [`and ${lines.length - maxListed} more`] : []
  throw new Error(
    ['a policy file cannot be used; nothing is started', ...lines.slice(0, maxListed), ...more].join('\n'),
  )
}

/** What cannot be read later on counts as gone: its last sound version stays. */
function leaveOut(): void {}

function load({ baseline, agent_key }: FileSources, { versions, remarks }: Settled, now: number): LoadedPolicies {
  const all = [...(baseline ? [baselineVersion()] : []), ...versions.values()]
  return loadVersions('file', all, remarks, agent_key, now)
}
