// Names of those who act: members by their address, keys and jobs by their name.

import { api } from './paths.js'
import { type Html, text } from './views/html.js'
import type { Visit } from './visit.js'

/** Returns the name of an actor, such as `person:per_1`. */
export type Named = (actor: string | null | undefined) => Html

/** Reads the members of the workspace once. */
export async function peopleOf({ api: { read }, person }: Visit): Promise<Named> {
  const org_id = person.org_id ?? ''
  const { members } = await read('member-list', api`/auth/workspaces/${org_id}/members`)
  const emails = new Map(members.map(({ person_id, email }) => [`person:${person_id}`, email]))
  return (actor) => text(emails.get(actor ?? '') ?? actor)
}
