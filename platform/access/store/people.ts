// People and their memberships. These functions serve callers who are signing in or have no current workspace.
import { isoTime, type Member, type Workspace } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utc } from '../../db/sql.js'
import type { Role } from '../../http/principal.js'

export interface Person {
  readonly person_id: string
  readonly email: string
  readonly name: string
  readonly is_capped: boolean
}

/** The personal workspace of a waitlisted account is closed until the account is released; shared workspaces are open. */
export function isWaitlisted(is_capped: boolean, kind: Workspace['kind'] | null): boolean {
  return is_capped && kind !== 'shared'
}

const columns = 'person_id, email, name, is_capped'

export async function findPersonUnscoped(tx: Transaction, email: string): Promise<Person | null> {
  const [person] = await tx.query<Person>(`select ${columns} from people where email = $1`, [email])
  return person ?? null
}

/** The names of these people, by their ids; an account that has ended has none. */
export async function namesOfPeopleUnscoped(
  tx: Transaction,
  ids: readonly string[],
): Promise<Pick<Person, 'person_id' | 'name'>[]> {
  return tx.query(
    'select person_id, name from people where person_id = any($1::text[]) and ended_at is null order by person_id collate "C"',
    [ids],
  )
}

/** Null for an account that has ended. */
export async function readPersonUnscoped(tx: Transaction, person_id: string): Promise<Person | null> {
  const live = `select ${columns} from people where person_id = $1 and ended_at is null`
  const [person] = await tx.query<Person>(live, [person_id])
  return person ?? null
}

/** The account, which cannot end before the transaction does; null for an unknown or ended account. */
export async function lockPersonUnscoped(tx: Transaction, person_id: string): Promise<Person | null> {
  const [person] = await tx.query<Person>(
    `select ${columns} from people where person_id = $1 and ended_at is null for share`,
    [person_id],
  )
  return person ?? null
}

/** The number of accounts that are not waitlisted. Locks the table against new accounts until the transaction ends. */
export async function countPeopleUnscoped(tx: Transaction): Promise<number> {
  await tx.query('lock table people in share row exclusive mode')
  const [row] = await tx.query<{ count: number }>(
    'select count(*)::int as count from people where not is_capped and ended_at is null',
  )
  return row?.count ?? 0
}

export async function insertPersonUnscoped(tx: Transaction, now: number, person: Person): Promise<void> {
  const { person_id, email, name, is_capped } = person
  await tx.query('insert into people (person_id, email, name, is_capped, created_at) values ($1, $2, $3, $4, $5)', [
    person_id,
    email,
    name,
    is_capped,
    isoTime(now),
  ])
}

/** Releases the waitlisted account with this address; false without one. */
export async function releasePersonUnscoped(tx: Transaction, email: string): Promise<boolean> {
  const rows = await tx.query('update people set is_capped = false where email = $1 and is_capped returning 1', [email])
  return rows.length > 0
}

/** The workspaces of a person, personal ones first. */
export async function workspacesOfUnscoped(tx: Transaction, person_id: string): Promise<Workspace[]> {
  return tx.query<Workspace>(
    `select o.org_id, o.name, o.kind, m.role, m.suspended_at is not null as is_suspended
     from memberships m join organizations o on o.org_id = m.org_id
     where m.person_id = $1 order by o.kind, m.joined_at, o.org_id`,
    [person_id],
  )
}

export async function insertMembershipUnscoped(
  tx: Transaction,
  now: number,
  { org_id, person_id, role }: { readonly org_id: string; readonly person_id: string; readonly role: Role },
): Promise<void> {
  await tx.query(
    'insert into memberships (org_id, person_id, role, joined_at) values ($1, $2, $3, $4) on conflict do nothing',
    [org_id, person_id, role, isoTime(now)],
  )
}

/** True if the organization has an owner. */
export async function hasOwnerUnscoped(tx: Transaction, org_id: string): Promise<boolean> {
  const rows = await tx.query(`select 1 from memberships where org_id = $1 and role = 'owner'`, [org_id])
  return rows.length > 0
}

/** True if the account with this address is a member of the organization. */
export async function isMemberUnscoped(tx: Transaction, org_id: string, email: string): Promise<boolean> {
  const rows = await tx.query(
    'select 1 from memberships m join people p on p.person_id = m.person_id where m.org_id = $1 and p.email = $2',
    [org_id, email],
  )
  return rows.length > 0
}

/** The members of the workspace, the owner first, then in the order they joined. */
export async function readMembersUnscoped(tx: Transaction, { org_id }: Scope): Promise<Member[]> {
  return tx.query<Member>(
    `select m.person_id, p.email, p.name, m.role, ${utc('m.joined_at')}, ${utc('m.suspended_at')}
     from memberships m join people p on p.person_id = m.person_id
     where m.org_id = $1 order by m.role <> 'owner', m.joined_at, m.person_id`,
    [org_id],
  )
}
