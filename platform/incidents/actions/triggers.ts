// Writes the deliveries of actions, in the transaction of what triggers them: a change that is stored has its deliveries.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import type { Send } from '../../jobs/job.js'
import { lockLog } from '../../ledger/log.js'
import { findIncidents } from '../store/incidents.js'
import { type Conditions, matches, type Occurrence } from './matching.js'
import { enabledActions } from './store/actions.js'
import { insertDeliveries, type NewDelivery } from './store/deliveries.js'

/** The parts that a room needs to trigger actions. */
export interface Triggering {
  readonly send: Send
}

/** The job that delivers what is due for one action. */
export const deliverName = 'deliver-action'

/**
 * Writes a delivery for each action that answers one of the occurrences, and sends its job; `now` is ms since 1970. Call it last
 * in the transaction: incidents are delivered as they are then. Without occurrences, and without a matching action, it writes nothing.
 */
export async function queueDeliveries(
  { send }: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  occurrences: readonly Occurrence[],
): Promise<void> {
  if (occurrences.length === 0) return
  const triggers = [...new Set(occurrences.map(({ on }) => on))]
  const policy_ids = [...new Set(occurrences.flatMap(({ policy_id = null }) => policy_id ?? []))]
  const actions = await enabledActions(scope, tx, triggers, policy_ids)
  const found = occurrences.flatMap((occurrence) => {
    const answering = actions.filter((action) => matches(action, occurrence))
    return answering.length === 0 ? [] : [{ occurrence, answering }]
  })
  if (found.length === 0) return
  // INVARIANT (order of deliveries): positions are assigned under the lock of the log.
  await lockLog(scope, tx)
  const dataOf = await contents(
    scope,
    tx,
    found.map(({ occurrence }) => occurrence),
  )
  const deliveries = found.flatMap(({ occurrence, answering }) => {
    const body = JSON.stringify({ type: occurrence.on, timestamp: isoTime(now), data: dataOf(occurrence) })
    return answering.map((action) => newDelivery(action, occurrence, body, now))
  })
  for (const action_id of await insertDeliveries(scope, tx, now, deliveries))
    await send(deliverName, { org_id: scope.org_id, action_id }, { tx })
}

/** The contents of the bodies: the data that a room gives, or the incident. */
async function contents(scope: Scope, tx: Transaction, occurrences: readonly Occurrence[]) {
  const ids = occurrences.flatMap(({ data, subject_id }) => (data === undefined ? [subject_id] : []))
  const incidents = ids.length === 0 ? [] : await findIncidents(scope, tx, ids)
  const known = new Map(incidents.map((incident) => [incident.id, incident]))
  return ({ data, subject_id }: Occurrence) => data ?? { incident: known.get(subject_id) }
}

function newDelivery({ id: action_id }: Conditions, found: Occurrence, body: string, now: number): NewDelivery {
  const { on: type, subject_kind, subject_id, once = null } = found
  return { id: newId('dlv', now), action_id, type, subject_kind, subject_id, once, body }
}
