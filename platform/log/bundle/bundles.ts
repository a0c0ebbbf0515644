// Bundles for those who ask: made one at a time, each in a folder of its own that is gone once it has been sent.
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { type BundleParts, type BundleRequest, makeBundle } from './bundle.js'

export interface MadeBundle {
  readonly path: string
  readonly discard: () => Promise<void>
}

export interface Bundles {
  /** Rejects as makeBundle does, and with UNAVAILABLE while whoever asks has several already, or too many wait. */
  readonly make: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
  /** The same for the platform's own archives, which wait for nobody but the one that is being made. */
  readonly archive: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
}

const prefix = 'svc-bundle-'
/** ms: no bundle takes a day to be made and fetched. */
const longestLife = 86_400_000
/** Bundles that wait to be made; whoever comes then is told to come back. */
const mostWaiting = 20
/** Bundles of one asker that wait, are made, or stand on disk until they are fetched. */
const mostOfOne = 3

/** `parts` is null in a process that does not hold the log's key. */
export function createBundles(parts: BundleParts | null): Bundles {
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  const held = new Map<string, number>()
  const holding = () => {
    if (parts !== null) return parts
    throw new PlatformError('UNAVAILABLE', 'this process does not hold the key of the log: ask another')
  }
  return {
    archive: (scope, request) => inTurn(() => made(holding(), scope, request)),
    make: async (scope, request) => {
      const own = holding()
      const asker = `${scope.actor.kind} ${scope.actor.id}`
      const count = held.get(asker) ?? 0
      if (count >= mostOfOne || waiting >= mostWaiting) {
        const why = count >= mostOfOne ? 'your other bundles are not fetched yet' : 'other bundles are being made'
        throw new PlatformError('UNAVAILABLE', `${why}: try again shortly`, { headers: { 'retry-after': '30' } })
      }
      const release = () => {
        const left = (held.get(asker) ?? 1) - 1
        if (left > 0) held.set(asker, left)
        else held.delete(asker)
      }
      held.set(asker, count + 1)
      waiting += 1
      try {
        const { path, discard } = await inTurn(() => made(own, scope, request))
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

/** Removes what processes that were killed have left behind. `now`: ms since 1970. */
export async function removeLeftBundles(now: number): Promise<void> {
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    if (!name.startsWith(prefix)) continue
    const path = join(tmpdir(), name)
    const { mtimeMs = now } = (await stat(path).catch(() => null)) ?? {}
    if (now - mtimeMs > longestLife) await rm(path, { recursive: true, force: true }).catch(() => undefined)
  }
}

async function made(parts: BundleParts, scope: Scope, request: BundleRequest): Promise<MadeBundle> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  const discard = () => rm(folder, { recursive: true, force: true })
  try {
    return { path: await makeBundle(parts, scope, request, folder), discard }
  } catch (error) {
    await discard()
    throw error
  }
}
