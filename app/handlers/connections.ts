// The connections that a payload is about: by the installation and GitHub's id of the repository, never by a name.

import { idIn, type Members, objectIn } from '../github/members.js'
import type { Connection, HandlerParts } from './handler.js'

export async function connectionsOf({ connections }: HandlerParts, payload: Members): Promise<readonly Connection[]> {
  const installation_id = idIn(objectIn(payload, 'installation'))
  const github_id = idIn(objectIn(payload, 'repository'))
  return installation_id === null || github_id === null ? [] : connections(installation_id, github_id)
}

/** The connection whose id names the repository in jobs, so that they are coalesced; null without one. */
export async function firstConnection(parts: HandlerParts, payload: Members): Promise<Connection | null> {
  return (await connectionsOf(parts, payload))[0] ?? null
}
