// Creates a workspace and its log, which begins with the event of the creation.
import { randomBytes } from 'node:crypto'
import type { Transaction } from '../../db/db.js'
import { scopeOf } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { insertOrganizationUnscoped } from '../store/organizations.js'
import { insertMembershipUnscoped } from '../store/people.js'

/** Creates a personal workspace, owned by the person `owner` unless that is null; returns its id. */
export async function makeWorkspace(tx: Transaction, now: number, name: string, owner: string | null): Promise<string> {
  const org_id = `org_${randomBytes(16).toString('hex')}`
  await insertOrganizationUnscoped(tx, now, org_id, name)
  if (owner !== null) await insertMembershipUnscoped(tx, now, { org_id, person_id: owner, role: 'owner' })
  const actor = owner === null ? ({ kind: 'system', id: 'start' } as const) : ({ kind: 'person', id: owner } as const)
  const event = { kind: 'workspace.created', subject_kind: 'workspace', subject_id: org_id, data: { name } }
  await recordEvents(scopeOf(org_id, actor), tx, now, [event])
  return org_id
}
