// The life cycle of an incident (docs/design/platform.md §4), as one table of transitions.
import { type Incident, isoTime } from '@svc/schemas'
import { type Resources, type Transaction, withTransaction } from '../../db/db.js'
import { actorText, type Scope, scopeOf } from '../../db/scope.js'
import { invalid, PlatformError } from '../../errors.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog } from '../../ledger/log.js'
import { queueDeliveries, type Triggering } from '../actions/triggers.js'
import { lockIncident, updateIncident } from '../store/incidents.js'

export type IncidentMove = keyof typeof transitions

/** The states from which each move is possible, and the state it leads to. */
export const transitions = {
  review: { from: ['open'], to: 'active' },
  resolve: { from: ['open', 'active'], to: 'resolved' },
  ignore: { from: ['open', 'active'], to: 'ignored' },
  reactivate: { from: ['resolved', 'ignored'], to: 'active' },
} as const satisfies Record<string, { from: readonly Incident['state'][]; to: Incident['state'] }>

const moves = Object.entries(transitions) as [IncidentMove, { from: readonly string[]; to: string }][]

/** A text that may be sent as `note` or as `reason`. */
interface NoteOrReason {
  readonly note?: string
  readonly reason?: string
}

/** The text of a move; null when it is absent or blank. Throws INVALID for two different texts, and for none where one is needed. */
export function noteOf(move: IncidentMove, { note, reason }: NoteOrReason): string | null {
  if (note !== undefined && reason !== undefined && note !== reason)
    throw invalid([{ path: 'reason', message: 'differs from `note`: send one of them' }])
  const text = note ?? reason ?? ''
  if (text.trim() !== '') return text
  if (move !== 'ignore') return null
  throw invalid([{ path: 'reason', message: 'is missing: send why the incident is ignored, as `reason` or as `note`' }])
}

/** Moves the incident. Rejects with NOT_FOUND, or with INVALID_TRANSITION. */
export function moveIncident(
  { db, clock, send }: Resources & Triggering,
  scope: Scope,
  id: string,
  move: IncidentMove,
  note: string | null,
): Promise<Incident> {
  return withTransaction(db, scope, (tx) => moveWithin({ send }, scope, tx, clock(), id, move, note))
}

/** Moves the incident at `now` (ms since 1970). Nothing is written when it rejects with NOT_FOUND or INVALID_TRANSITION. */
export async function moveWithin(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  id: string,
  move: IncidentMove,
  note: string | null,
): Promise<Incident> {
  const incident = await incidentToChange(scope, tx, id)
  const { from, to } = transitions[move]
  if (!from.some((state) => state === incident.state)) throw notPossible(move, incident.state)
  return changeIncident(triggering, scope, tx, now, incident, to, note)
}

/**
 * Resolves an incident that is open, for the system: no member has reviewed it. One that a member reviews gets the reason as a note, and
 * one that is resolved or ignored stays as it is. `now`: ms since 1970. The log must be locked.
 */
export async function settleWithin(
  triggering: Triggering,
  { org_id }: Scope,
  tx: Transaction,
  now: number,
  id: string,
  reason: string,
): Promise<void> {
  const scope = scopeOf(org_id, { kind: 'system', id: 'approvals' })
  const incident = await incidentToChange(scope, tx, id)
  const isFull = incident.state === 'active' && notesOf(incident) >= maxNotes
  const to = incident.state === 'open' ? 'resolved' : incident.state
  if (to === 'ignored' || isFull || incident.state === 'resolved') return
  await changeIncident(triggering, scope, tx, now, incident, to, reason)
}

/** Adds a note to the history of the incident, whose state stays. Rejects with NOT_FOUND, and with CONFLICT for too many notes. */
export function noteIncident(
  { db, clock, send }: Resources & Triggering,
  scope: Scope,
  id: string,
  note: string,
): Promise<Incident> {
  if (note.trim() === '') throw invalid([{ path: 'note', message: 'must not be blank' }])
  return withTransaction(db, scope, async (tx) => {
    const incident = await incidentToChange(scope, tx, id)
    if (notesOf(incident) >= maxNotes)
      throw new PlatformError('CONFLICT', `this incident has ${maxNotes} notes, the maximum: write the rest elsewhere`)
    return changeIncident({ send }, scope, tx, clock(), incident, incident.state, note)
  })
}

/** Lists return the whole history of 200 incidents. */
const maxNotes = 100

function notesOf({ history }: Incident): number {
  return history.filter(({ from, to }) => from === to).length
}

/** Incidents are opened and counted under the lock of the log: a reactivated one must not coincide with a new one. */
async function incidentToChange(scope: Scope, tx: Transaction, id: string): Promise<Incident> {
  await lockLog(scope, tx)
  const incident = await lockIncident(scope, tx, id)
  if (incident === null) throw new PlatformError('NOT_FOUND', 'this incident does not exist')
  return incident
}

/** Every changed incident goes through here: a move, or a note, which leads to the same state. */
async function changeIncident(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  incident: Incident,
  to: Incident['state'],
  note: string | null,
): Promise<Incident> {
  const { id, state: from, history } = incident
  const is_note = from === to
  const entry = { at: isoTime(now), by: actorText(scope), from, to, note }
  const changed = await updateIncident(scope, tx, now, id, {
    state: to,
    reviewed_by: is_note || scope.actor.kind === 'system' ? incident.reviewed_by : entry.by,
    note: is_note ? incident.note : note,
    history: [...history, entry],
  })
  if (changed === null)
    throw new PlatformError(
      'INVALID_TRANSITION',
      `cannot move from \`${from}\` to \`${to}\`: another incident of the same policy, agent and task is \`open\` or \`active\`: use that one`,
    )
  const kind = is_note ? 'incident.noted' : `incident.${to}`
  const data = { from, to, note }
  await recordEvents(scope, tx, now, [{ kind, subject_kind: 'incident', subject_id: id, data }])
  const { severity, agent_id, policy_id } = changed
  const subject = { subject_kind: 'incident', subject_id: id, severity, agent_id, policy_id } as const
  await queueDeliveries(triggering, scope, tx, now, [{ on: 'incident.changed', ...subject }])
  return changed
}

/** Names the state, the one asked for, those from which it is reached, and what is possible. */
function notPossible(move: IncidentMove, state: Incident['state']): PlatformError {
  const { from, to } = transitions[move]
  const possible = moves.filter(([, { from }]) => from.includes(state))
  const list = possible.map(([name, next]) => `${name} (to \`${next.to}\`)`).join(', ')
  const states = from.map((one) => `\`${one}\``).join(' or ')
  return new PlatformError(
    'INVALID_TRANSITION',
    `cannot ${move} an incident that is \`${state}\`: it becomes \`${to}\` only from ${states}; possible now: ${list}`,
  )
}
