// Bundles for those who ask: one at a time, in a folder of its own that is gone once it has been sent.
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
  /** Rejects as makeBundle does, and with UNAVAILABLE while others wait already. */
  readonly make: (scope: Scope, request: BundleRequest) => Promise<MadeBundle>
}

/** Who waits behind this many is told to come back. */
const mostWaiting = 4

/** `parts` is null in a process that does not hold the log's key. */
export function createBundles(parts: BundleParts | null): Bundles {
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
      if (waiting >= mostWaiting)
        throw new PlatformError('UNAVAILABLE', 'other bundles are being made', { headers: { 'retry-after': '30' } })
      waiting += 1
      try {
        return await inTurn(() => made(parts, scope, request))
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
