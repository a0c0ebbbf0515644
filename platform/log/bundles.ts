// Bundles for those who ask: one of an organization at a time, in a folder of its own that is gone once it has been sent.
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
  /** Rejects as makeBundle does, and with UNAVAILABLE while the organization has one already, or too many wait. */
  readonly make: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
}

/** Organizations that wait for theirs; more are told to come back. */
const mostWaiting = 20

/** `parts` is null in a process that does not hold the log's key. */
export function createBundles(parts: BundleParts | null): Bundles {
  const busy = new Set<string>()
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
      if (busy.has(org_id) || waiting >= mostWaiting) {
        const why = busy.has(org_id) ? 'the last bundle is still being made or fetched' : 'other bundles are being made'
        throw new PlatformError('UNAVAILABLE', `${why}: try again shortly`, { headers: { 'retry-after': '30' } })
      }
      busy.add(org_id)
      waiting += 1
      try {
        return await inTurn(() => made(parts, scope, request, () => busy.delete(org_id)))
      } catch (error) {
        busy.delete(org_id)
        throw error
      } finally {
        waiting -= 1
      }
    },
  }
}

async function made(parts: BundleParts, scope: Scope, request: BundleRequest, gone: () => void): Promise<MadeBundle> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bundle-'))
  const discard = () => rm(folder, { recursive: true, force: true }).finally(gone)
  try {
    return { path: await makeBundle(parts, scope, request, folder), discard }
  } catch (error) {
    await discard()
    throw error
  }
}
