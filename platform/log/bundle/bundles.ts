// Bundles on request: made one at a time, each in its own folder, which is deleted after the response.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { type BundleParts, makeBundle } from './bundle.js'
import type { BundleRequest } from './plan.js'

interface MadeBundle {
  readonly path: string
  readonly discard: () => Promise<void>
}

export interface Bundles {
  /** Rejects as makeBundle does, and with UNAVAILABLE when the caller has several already or the queue is full. */
  readonly make: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
  /** Makes a bundle for the platform's own archives; only the bundle in progress delays it. */
  readonly archive: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
}

const prefix = 'svc-bundle-'
/** Age at which a folder of a killed process is deleted: no bundle takes a day to make and fetch. */
const maxAgeMs = 86_400_000
/** The maximum number of bundles in the queue; further callers are asked to retry. */
const maxWaiting = 20
/** The maximum number of bundles of one caller that are in the queue, in progress, or on disk until they are fetched. */
const maxPerCaller = 3

/** `parts` is null in a process without the signing key of the log. */
export function createBundles(parts: BundleParts | null): Bundles {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  const afterOthers = <T>(work: () => Promise<T>): Promise<T> => {
    const made = last.then(work)
    last = made.catch(() => undefined)
    return made
  }
  const counts = new Map<string, number>()
  const requireParts = () => {
    if (parts !== null) return parts
    throw new PlatformError('UNAVAILABLE', 'this process does not hold the key of the log: send the request to another')
  }
  return {
    archive: (scope, request) => afterOthers(() => makeIn(requireParts(), scope, request)),
    make: async (scope, request) => {
      const own = requireParts()
      const caller = `${scope.actor.kind} ${scope.actor.id}`
      const count = counts.get(caller) ?? 0
      if (count >= maxPerCaller || waiting >= maxWaiting) {
        const reason =
          count >= maxPerCaller ? 'your other bundles are not fetched yet' : 'other bundles are in progress'
        throw new PlatformError('UNAVAILABLE', `${reason}: try again shortly`, { headers: { 'retry-after': '30' } })
      }
      const release = () => {
        const left = (counts.get(caller) ?? 1) - 1
        if (left > 0) counts.set(caller, left)
        else counts.delete(caller)
      }
      counts.set(caller, count + 1)
      waiting += 1
      try {
        const { path, discard } = await afterOthers(() => makeIn(own, scope, request))
        return { path, discard: () => discard().finally(release) }
      } catch (error) {
        release()
        throw error
      } finally {
        waiting -= 1
      }
    },
  }
}

/** Deletes the folders of killed processes. `now`: ms since 1970. */
export async function removeStaleBundles(now: number): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue
    const path = join(tmpdir(), name)
    const { mtimeMs = now } = (await stat(path).catch(() => null)) ?? {}
    if (now - mtimeMs > maxAgeMs) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

/** Makes a bundle in a temporary folder. */
async function makeIn(parts: BundleParts, scope: Scope, request: BundleRequest): Promise<MadeBundle> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  const discard = () => rm(folder, { recursive: true, force: true })
  try {
    return { path: await makeBundle(parts, scope, request, folder), discard }
  } catch (error) {
    await discard()
    throw error
  }
}
