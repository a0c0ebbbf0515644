// Names of those who act: members by their address, keys and jobs by their name.

import { api } from './paths.js'
import { type Html, mailAddress, text } from './views/html.js'
import type { Visit } from './visit.js'

/** Returns the name of an actor, such as `person:per_1`; some members of the API have the id alone. */
export type Named = (actor: string | null | undefined) => Html

/** The members as values of a filter, the person who looks first; a chosen actor who is not a member is one more value. */
export async function membersIn(visit: Visit, chosen: string): Promise<readonly Choice[]> {
  const { members } = await readMembers(visit)
  const known: readonly Choice[] = [
    ['me', 'me'],
    ...members.map(({ person_id, email }) => [`person:${person_id}`, email] as const),
  ]
  return chosen === '' || known.some(([actor]) => actor === chosen) ? known : [...known, [chosen, chosen]]
}

type Choice = readonly [actor: string, name: string]

/** Names of members and of the operator: of those who decide. Keys, of which a workspace can have a thousand, are not read. */
export async function decidersOf(visit: Visit): Promise<Named> {
  return namesOf(await membersOf(visit))
}

/** The same with the keys of the workspace, where the person may read them. */
export async function peopleOf(visit: Visit): Promise<Named> {
  const { read, may } = visit.api
  const keys = '/auth/api-keys'
  const [members, { api_keys }] = await Promise.all([
    membersOf(visit),
    may('get', keys) ? read('api-key-list', keys) : { api_keys: [] },
  ])
  const known = api_keys.flatMap(({ id, name }) =>
    [`api_key:${id}`, id].map((actor) => [actor, text(`API key “${name}”`)] as const),
  )
  return namesOf([...members, ...known])
}

type Known = readonly [actor: string, name: Html]

function readMembers({ api: { read }, once, person }: Visit) {
  return once('members', () => read('member-list', api`/auth/workspaces/${person.org_id ?? ''}/members`))
}

async function membersOf(visit: Visit): Promise<Known[]> {
  const { members } = await readMembers(visit)
  return members.flatMap(({ person_id, email }) =>
    [`person:${person_id}`, person_id].map((actor) => [actor, mailAddress(email)] as const),
  )
}

function namesOf(known: readonly Known[]): Named {
  const operator = ['local', 'operator:local'].map((actor) => [actor, text('the operator')] as const)
  const names = new Map<string, Html>([...operator, ...known])
  return (actor) => names.get(actor ?? '') ?? text(actor)
}
