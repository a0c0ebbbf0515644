// The members of the workspace at the cut-off, by role: from their events, and from the table for what the log does not hold.

import type { TableFacts } from '../content/messages.js'
import type { Oversight } from '../content/report-data.js'
import { type EventLeaf, textOf } from './leaves.js'

const roles = ['owner', 'admin', 'member', 'auditor']

/** `events`: all of members and workspaces, also those after the cut-off, in any order. */
export function membersAt(
  cut_off: number,
  as_of: string,
  events: readonly EventLeaf[],
  table: TableFacts['members'],
): Oversight['members'] {
  const ordered = events.toSorted((a, b) => a.log_index - b.log_index)
  const roleOf = new Map<string, string | null>()
  for (const event of ordered) if (event.log_index < cut_off) apply(roleOf, event)
  const later = ordered.filter(({ log_index }) => log_index >= cut_off)
  const undone = new Map<string, string | null>()
  for (const event of later) {
    const before = roleBefore(event)
    if (before !== undefined && !undone.has(event.subject_id)) undone.set(event.subject_id, before)
  }
  for (const { person_id, role, joined_at } of table)
    if (!roleOf.has(person_id) && !undone.has(person_id) && joined_at <= as_of) roleOf.set(person_id, role)
  for (const [person_id, role] of undone) if (!roleOf.has(person_id)) roleOf.set(person_id, role)
  restoreOwner(roleOf, later)
  return roles.flatMap((role) => {
    const count = [...roleOf.values()].filter((own) => own === role).length
    return count === 0 ? [] : [{ role, count }]
  })
}

function apply(roleOf: Map<string, string | null>, { kind, subject_id, actor_kind, actor_id, data }: EventLeaf): void {
  if (kind === 'workspace.created' && actor_kind === 'person') roleOf.set(actor_id, 'owner')
  if (kind === 'member.became') {
    const role = textOf(data.role)
    // The owner who gives the ownership away becomes an admin, without an event of its own.
    if (role === 'owner') for (const [id, own] of roleOf) if (own === 'owner') roleOf.set(id, 'admin')
    roleOf.set(subject_id, role)
  }
  if (kind === 'member.role_changed') roleOf.set(subject_id, textOf(data.to))
  if (kind === 'member.left' || kind === 'member.removed') roleOf.set(subject_id, null)
}

/** The role before the event of a person whose earlier events are gone; undefined when the event does not show it. */
function roleBefore({ kind, data }: EventLeaf): string | null | undefined {
  if (kind === 'member.role_changed') return textOf(data.from)
  if (kind === 'member.became') return data.role === 'owner' ? undefined : null
  return kind === 'member.left' || kind === 'member.removed' ? 'member' : undefined
}

/** A person who owned the workspace before the first change of owners after the cut-off is an admin in the table. */
function restoreOwner(roleOf: Map<string, string | null>, later: readonly EventLeaf[]): void {
  if ([...roleOf.values()].includes('owner')) return
  if (!later.some(({ kind, data }) => kind === 'member.became' && data.role === 'owner')) return
  const [admin] = [...roleOf].find(([, role]) => role === 'admin') ?? []
  if (admin !== undefined) roleOf.set(admin, 'owner')
}
