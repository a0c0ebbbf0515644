// Creates a workspace and its log, which begins with the event of the creation.
import { randomBytes } from 'node:crypto'
import type { Transaction } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { insertOrganizationUnscoped } from '../store/organizations.js'
import { insertMembershipUnscoped } from '../store/people.js'

/** Completes a new workspace in the transaction that creates it: the part of a room above this one. */
export type StartWorkspace = (scope: Scope, tx: Transaction, now: number) => Promise<unknown>

/** Creates a personal workspace, owned by the person `owner` unless that is null; returns its id. */
export async function makeWorkspace(
  tx: Transaction,
  now: number,
  name: string,
  owner: string | null,
  startWorkspace: StartWorkspace,
): Promise<string> {
  const org_id = `org_${randomBytes(16).toString('hex')}`
  await insertOrganizationUnscoped(tx, now, org_id, name)
  if (owner !== null) await insertMembershipUnscoped(tx, now, { org_id, person_id: owner, role: 'owner' })
  const actor = owner === null ? ({ kind: 'system', id: 'start' } as const) : ({ kind: 'person', id: owner } as const)
  const event = { kind: 'workspace.created', subject_kind: 'workspace', subject_id: org_id, data: { name } }
  const scope = scopeOf(org_id, actor)
  await recordEvents(scope, tx, now, [event])
  await startWorkspace(scope, tx, now)
  return org_id
}
