// Bundles for those who ask: made one at a time, each in a folder of its own that is gone once it has been sent.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PlatformError } from '../errors.js'
import type { Scope } from '../store/scope.js'
import { type BundleParts, type BundleRequest, makeBundle } from './bundle.js'

export interface MadeBundle {
  readonly path: string
  readonly discard: () => Promise<void>
}

export interface Bundles {
  /** Rejects as makeBundle does, and with UNAVAILABLE while the organization has several already, or too many wait. */
  readonly make: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
}

/** Bundles that wait to be made; whoever comes then is told to come back. */
const mostWaiting = 20
/** Bundles of one organization that wait, are made, or stand on disk until they are fetched. */
const mostOfOne = 3

/** `parts` is null in a process that does not hold the log's key. */
export function createBundles(parts: BundleParts | null): Bundles {
  const held = new Map<string, number>()
  let waiting = 0
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    make: async (scope, request) => {
      if (parts === null)
        throw new PlatformError('UNAVAILABLE', 'this process does not hold the key of the log: ask another')
      const { org_id } = scope
      const count = held.get(org_id) ?? 0
      if (count >= mostOfOne || waiting >= mostWaiting) {
        const why =
          count >= mostOfOne ? 'other bundles of this workspace are not fetched yet' : 'other bundles are being made'
        throw new PlatformError('UNAVAILABLE', `${why}: try again shortly`, { headers: { 'retry-after': '30' } })
      }
      const release = () => held.set(org_id, (held.get(org_id) ?? 1) - 1)
      held.set(org_id, count + 1)
      waiting += 1
      try {
        const { path, discard } = await inTurn(() => made(parts, scope, request))
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

async function made(parts: BundleParts, scope: Scope, request: BundleRequest): Promise<MadeBundle> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bundle-'))
  const discard = () => rm(folder, { recursive: true, force: true })
  try {
    return { path: await makeBundle(parts, scope, request, folder), discard }
  } catch (error) {
    await discard()
    throw error
  }
}
