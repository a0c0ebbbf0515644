// Names of those who act: members by their address, keys and jobs by their name.

import { api } from './paths.js'
import { type Html, mailAddress, text } from './views/html.js'
import type { Visit } from './visit.js'

/** Returns the name of an actor, such as `person:per_1`; some members of the API have the id alone. */
export type Named = (actor: string | null | undefined) => Html

/** The members as values of a filter, the person who looks first; a chosen actor who is not a member is one more value. */
export async function membersIn({ api: { read }, person }: Visit, chosen: string): Promise<readonly Choice[]> {
  const { members } = await read('member-list', api`/auth/workspaces/${person.org_id ?? ''}/members`)
  const known: readonly Choice[] = [
    ['me', 'me'],
    ...members.map(({ person_id, email }) => [`person:${person_id}`, email] as const),
  ]
  return chosen === '' || known.some(([actor]) => actor === chosen) ? known : [...known, [chosen, chosen]]
}

type Choice = readonly [actor: string, name: string]

/** Reads the members of the workspace once, and its keys where the person may read them. */
export async function peopleOf({ api: { read, may }, person }: Visit): Promise<Named> {
  const org_id = person.org_id ?? ''
  const keys = '/auth/api-keys'
  const [{ members }, { api_keys }] = await Promise.all([
    read('member-list', api`/auth/workspaces/${org_id}/members`),
    may('get', keys) ? read('api-key-list', keys) : { api_keys: [] },
  ])
  const names = new Map<string, Html>([
    ...['local', 'operator:local'].map((actor) => [actor, text('the operator')] as const),
    ...members.flatMap(({ person_id, email }) =>
      [`person:${person_id}`, person_id].map((actor) => [actor, mailAddress(email)] as const),
    ),
    ...api_keys.flatMap(({ id, name }) =>
      [`api_key:${id}`, id].map((actor) => [actor, text(`API key “${name}”`)] as const),
    ),
  ])
  return (actor) => names.get(actor ?? '') ?? text(actor)
}
