// The life cycle of an incident (docs/design/platform.md §4), as one table of transitions.
import { type Incident, isoTime } from '@svc/schemas'
import { type Resources, withTransaction } from '../../db/db.js'
import { actorText, type Scope } from '../../db/scope.js'
import { PlatformError } from '../../errors.js'
import { recordEvents } from '../../ledger/events.js'
import { lockLog } from '../../ledger/log.js'
import { lockIncident, updateIncident } from '../store/incidents.js'

export type IncidentMove = keyof typeof transitions

/** The states from which each move is possible, and the state it leads to. */
export const transitions = {
  review: { from: ['open'], to: 'active' },
  resolve: { from: ['open', 'active'], to: 'resolved' },
  ignore: { from: ['open', 'active'], to: 'ignored' },
  reactivate: { from: ['resolved', 'ignored'], to: 'active' },
} as const satisfies Record<string, { from: readonly Incident['state'][]; to: Incident['state'] }>

/** Moves the incident. Rejects with NOT_FOUND, or with INVALID_TRANSITION. */
export async function moveIncident(
  { db, clock }: Resources,
  scope: Scope,
  id: string,
  move: IncidentMove,
  note: string | null,
): Promise<Incident> {
  const now = clock()
  return withTransaction(db, scope, async (tx) => {
    // Incidents are opened and counted under the lock of the log: a reactivated one must not coincide with a new one.
    await lockLog(scope, tx)
    const incident = await lockIncident(scope, tx, id)
    if (incident === null) throw new PlatformError('NOT_FOUND', 'this incident does not exist')
    const { from, to } = transitions[move]
    if (!from.some((state) => state === incident.state))
      throw invalid(`cannot ${move} an incident that is \`${incident.state}\`: its state must be ${states(from)}`)
    const entry = { at: isoTime(now), by: actorText(scope), from: incident.state, to, note }
    const moved = await updateIncident(scope, tx, now, id, {
      state: to,
      reviewed_by: entry.by,
      note,
      history: [...incident.history, entry],
    })
    if (moved === null) throw invalid('another incident of the same policy, agent and task is open: use that one')
    const data = { from: incident.state, to, note }
    await recordEvents(scope, tx, now, [{ kind: `incident.${to}`, subject_kind: 'incident', subject_id: id, data }])
    return moved
  })
}

function states(from: readonly Incident['state'][]): string {
  return from.map((state) => `\`${state}\``).join(' or ')
}

function invalid(detail: string): PlatformError {
  return new PlatformError('INVALID_TRANSITION', detail)
}
