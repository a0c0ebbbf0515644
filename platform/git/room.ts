// Puts the parts of this room together.
import type { StartWorkspace } from '../access/commands/make-workspace.js'
import type { Config } from '../config.js'
import type { Resources } from '../db/db.js'
import type { Job, Send } from '../jobs/job.js'
import type { Targets } from '../outgoing/targets.js'
import { createManifestReader } from '../policies/manifest-reader.js'
import type { Sealer } from '../secrets/seal.js'
import { connectLibrary } from './commands/connect-library.js'
import type { Installations } from './installations.js'
import { gitJobs, readSoonBy, sendReading, startGit } from './jobs.js'
import type { GitParts, ReadingParts } from './parts.js'
import { createGitPlaces } from './places.js'
import { openSources } from './source/sources.js'

interface RoomParts extends Resources {
  readonly config: Config
  readonly sealer: Sealer
  readonly assertKeyKept: () => void
  readonly targets: Targets
  readonly installations: Installations
}

export interface GitRoom {
  readonly jobs: readonly Job[]
  /** The parts of jobs. */
  readonly parts: ReadingParts
  /** The parts of the routes, once jobs can be sent. */
  readonly partsWith: (send: Send) => GitParts
  /** Connects the library to a new workspace, and lets a job read it when the workspace exists. */
  readonly startWorkspaceWith: (send: Send) => StartWorkspace
  /** Sends the jobs of the start. Rejects with UNAVAILABLE. */
  readonly start: (send: Send) => Promise<void>
  readonly close: () => Promise<void>
}

/** Parsed manifests: about 100 KB each. */
const maxManifests = 500

export function openGit({ config, targets, ...others }: RoomParts): GitRoom {
  const sources = openSources({ config, targets, clock: others.clock })
  const { resync_seconds } = config
  const manifests = createManifestReader(maxManifests)
  const places = createGitPlaces()
  const parts = { ...others, sources, places, manifests, resync_seconds, random: Math.random, send: null }
  return {
    jobs: gitJobs(parts),
    parts,
    partsWith: (send) => ({ ...parts, send, readSoon: readSoonBy(parts, send) }),
    startWorkspaceWith: (send) => async (scope, tx, now) => {
      const id = await connectLibrary(scope, tx, now)
      await sendReading(send, scope, id, { tx })
    },
    start: (send) => startGit(parts, send),
    close: sources.close,
  }
}
