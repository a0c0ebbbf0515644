// Puts the parts of this room together.
import type { Job, Send } from '../../jobs/job.js'
import { actionJobs, startActions } from './jobs.js'
import type { ActionParts } from './parts.js'

export interface ActionRoom {
  readonly jobs: readonly Job[]
  /** The parts of the routes, once jobs can be sent. */
  readonly partsWith: (send: Send) => ActionParts
  /** Sends the jobs of the start. Rejects with UNAVAILABLE. */
  readonly start: (send: Send) => Promise<void>
}

export type RoomParts = Omit<ActionParts, 'send' | 'random'>

export function openActions(given: RoomParts): ActionRoom {
  const parts = { ...given, random: Math.random }
  return {
    jobs: actionJobs(parts),
    partsWith: (send) => ({ ...parts, send }),
    start: (send) => startActions(parts, send),
  }
}
