// Places for Git on hosts that callers name: a host may take as long as it likes, and each reading is several processes.
import type { Scope } from '../db/scope.js'
import { PlatformError } from '../errors.js'
import { createPlaces, type Places } from '../jobs/places.js'
import type { RepositoryAddress } from './source/source.js'

/** Readings of one process that run Git, and those of one workspace. */
const maxReadings = 8
const maxReadingsOfOne = 2
/** A host has ten seconds to list its branches. */
const retrySeconds = 10
/** A reading of an ordinary host takes less than a second, so that one which waits for it need not be sent again. */
const maxWaitMs = 5_000
/** Those of one workspace that wait; others are answered at once. */
const maxWaitingOfOne = 4

/** A place for a provider; null where all stay taken. Other providers run no process. */
export type GitPlaces = (
  scope: Pick<Scope, 'org_id'>,
  provider: RepositoryAddress['provider'],
) => Promise<(() => void) | null>

export function createGitPlaces(places: Places = createPlaces(maxReadings, maxReadingsOfOne)): GitPlaces {
  /** The workspace of each reading that waits, in order. */
  const waiting = new Map<() => void, string>()
  const enter = (org_id: string) => {
    const leave = places.enter(org_id)
    if (leave === null) return null
    return () => {
      leave()
      for (const wake of [...waiting.keys()]) wake()
    }
  }
  const entered = (org_id: string) =>
    new Promise<(() => void) | null>((resolve) => {
      const end = (leave: (() => void) | null) => {
        waiting.delete(wake)
        clearTimeout(timer)
        resolve(leave)
      }
      const wake = () => {
        const leave = enter(org_id)
        if (leave !== null) end(leave)
      }
      const timer = setTimeout(end, maxWaitMs, null)
      waiting.set(wake, org_id)
    })
  return async ({ org_id }, provider) => {
    if (provider !== 'git') return () => undefined
    const leave = enter(org_id)
    const own = [...waiting.values()].filter((one) => one === org_id).length
    return leave !== null || own >= maxWaitingOfOne ? leave : entered(org_id)
  }
}

/** Does the work in a place. Rejects with RATE_LIMITED where all are taken. */
export async function inPlace<T>(
  places: GitPlaces,
  scope: Pick<Scope, 'org_id'>,
  provider: RepositoryAddress['provider'],
  work: () => Promise<T>,
): Promise<T> {
  const leave = await places(scope, provider)
  if (leave === null) throw allTaken()
  try {
    return await work()
  } finally {
    leave()
  }
}

export function allTaken(): PlatformError {
  const message = `${maxReadingsOfOne} repositories of this workspace, or ${maxReadings} of all, are being read from their hosts: retry in ${retrySeconds} s`
  return new PlatformError('RATE_LIMITED', message, { headers: { 'retry-after': String(retrySeconds) } })
}
