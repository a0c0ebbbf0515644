// A room above the platform, such as the GitHub App: what the composition root gives it, and what it gives back.
import type { Logger } from 'pino'
import type { Config } from './config.js'
import type { Resources } from './db/db.js'
import { type Installations, noInstallations } from './git/installations.js'
import type { ReadingParts } from './git/parts.js'
import type { Route } from './http/route.js'
import type { Job, Send } from './jobs/job.js'

/** The parts that a room can use from the start. */
export interface Ground extends Resources {
  readonly logger: Logger
  readonly config: Config
  readonly send: Send
  /** The id of the first workspace, which belongs to the operator. */
  readonly first_workspace: string
  readonly reading: ReadingParts
}

export interface Room {
  readonly installations: Installations
  readonly jobs: readonly Job[]
  /** Routes keep the parts that they use; the platform passes them none. */
  readonly routes: readonly Route<unknown>[]
  readonly close: () => Promise<void>
}

export type OpenRoom = (ground: Ground) => Promise<Room>

/** Reads the settings of a room; `value` is null where they leave the room out. */
export type ConfigureRoom = (env: Readonly<Record<string, string | undefined>>) => {
  readonly value: OpenRoom | null
  /** A message for each invalid variable. */
  readonly errors: readonly string[]
}

/** A platform without a room above it. */
export const noRoom: OpenRoom = async () => ({
  installations: noInstallations,
  jobs: [],
  routes: [],
  close: async () => undefined,
})
