// Puts the parts of this room together.
import type { Config } from '../config.js'
import type { Resources } from '../db/db.js'
import type { Job, Send } from '../jobs/job.js'
import type { Targets } from '../outgoing/targets.js'
import type { ManifestReader } from '../policies/manifest-reader.js'
import type { Sealer } from '../secrets/seal.js'
import { gitJobs, readSoonBy, startGit } from './jobs.js'
import type { GitParts } from './parts.js'
import { openSources } from './source/sources.js'

interface RoomParts extends Resources {
  readonly config: Config
  readonly sealer: Sealer
  readonly assertKeyKept: () => void
  readonly targets: Targets
  readonly manifests: ManifestReader
}

export interface GitRoom {
  readonly jobs: readonly Job[]
  /** The parts of the routes, once jobs can be sent. */
  readonly partsWith: (send: Send) => GitParts
  /** Sends the jobs of the start. Rejects with UNAVAILABLE. */
  readonly start: (send: Send) => Promise<void>
  readonly close: () => Promise<void>
}

export function openGit({ config, targets, ...others }: RoomParts): GitRoom {
  const sources = openSources({ config, targets, clock: others.clock })
  const parts = { ...others, sources, resync_seconds: config.resync_seconds, random: Math.random }
  return {
    jobs: gitJobs(parts),
    partsWith: (send) => ({ ...parts, readSoon: readSoonBy(parts, send) }),
    start: (send) => startGit(parts, send),
    close: sources.close,
  }
}
