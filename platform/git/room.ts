// Puts the parts of this room together.
import type { StartWorkspace } from '../access/commands/make-workspace.js'
import type { Config } from '../config.js'
import type { Resources } from '../db/db.js'
import type { Job, Send } from '../jobs/job.js'
import type { Outgoing } from '../outgoing/outgoing.js'
import { createManifestReader } from '../policies/manifest-reader.js'
import type { Sealer } from '../secrets/seal.js'
import { connectLibrary } from './commands/connect-library.js'
import type { Installations } from './installations.js'
import { gitJobs, startGit } from './jobs.js'
import type { GitParts } from './parts.js'
import { createGitPlaces } from './places.js'
import { sendReading } from './read-soon.js'
import { openSources } from './source/sources.js'

interface RoomParts extends Resources {
  readonly config: Config
  readonly sealer: Sealer
  readonly assertKeyKept: () => void
  readonly outgoing: Pick<Outgoing, 'targets'>
  readonly installations: Installations
  readonly send: Send
}

export interface GitRoom {
  readonly jobs: readonly Job[]
  readonly parts: GitParts
  /** Connects the library to a new workspace, and lets a job read it when the workspace exists. */
  readonly startWorkspace: StartWorkspace
  /** Work of the start. Rejects with UNAVAILABLE. */
  readonly start: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Parsed manifests: about 100 KB each. */
const maxManifests = 500

export function openGit({ config, outgoing: { targets }, ...others }: RoomParts): GitRoom {
  const sources = openSources({ config, targets, clock: others.clock })
  const { resync_seconds } = config
  const manifests = createManifestReader(maxManifests)
  const places = createGitPlaces()
  const parts = { ...others, sources, places, manifests, resync_seconds, random: Math.random }
  return {
    jobs: gitJobs(parts),
    parts,
    startWorkspace: async (scope, tx, now) => {
      const id = await connectLibrary(scope, tx, now)
      await sendReading(parts, scope, id, { tx })
    },
    start: () => startGit(parts),
    close: sources.close,
  }
}
