// The listed incidents, with their histories.
import { isMap } from '@svc/proof'
import type { Effect } from '@svc/schemas'
import { maxMoves } from '../../content/bounds.js'
import type { IncidentRow } from '../../content/messages.js'
import type { IncidentResult, IncidentState, Severity } from '../../content/report-data.js'
import { type EventLeaf, eventOf, type OpenedLeaf, textOf } from '../leaves.js'
import { type IncidentTally, incidentOfRow, type OpenedIncident } from './incidents.js'

const states: Readonly<Record<string, IncidentState>> = {
  'incident.active': 'active',
  'incident.resolved': 'resolved',
  'incident.ignored': 'ignored',
}

/** The state that an event moved an incident to; null for another event. */
export function movedTo({ kind }: EventLeaf): IncidentState | null {
  return states[kind] ?? null
}

/** The effect that an event states: that of the opening, or a later one; null for another event, and one of an earlier version. */
export function effectIn({ kind, data }: EventLeaf): Effect | null {
  const effect = kind === 'incident.opened' ? data.effect : kind === 'incident.effect_changed' ? data.to : null
  return effect === 'blocked' || effect === 'executed' || effect === 'unknown' ? effect : null
}

/** The incident that a leaf opens; null for another leaf and for a move. */
export function openedIn({ type, values }: OpenedLeaf): OpenedIncident | null {
  const incident = type === 'incident' ? values?.incident : null
  if (!isMap(incident) || typeof incident.severity !== 'string') return null
  const { violation_details: details, step, task_id } = incident
  return {
    agent_id: textOf(incident.agent_id) ?? '',
    task_id: textOf(task_id),
    step: typeof step === 'number' ? step : null,
    policy_id: Number(incident.policy_id),
    policy_name: textOf(incident.policy_name) ?? '',
    rule_type: textOf(incident.rule_type) ?? '',
    severity: incident.severity as Severity,
    scope: textOf(incident.scope) ?? '',
    mode: incident.mode === 'observe' ? 'observe' : 'enforce',
    reason: isMap(details) ? (textOf(details.reason) ?? textOf(details.message) ?? '') : '',
  }
}

export interface Listed {
  opened: { readonly incident: OpenedIncident; readonly at: string } | null
  effect: Effect | null
  readonly history: IncidentResult['history'][number][]
}

/** The incidents of leaves in the order of the log, and of rows where a leaf was erased. */
export function listedIncidents(leaves: readonly OpenedLeaf[], rows: readonly IncidentRow[]): Map<string, Listed> {
  const all = new Map<string, Listed>()
  const of = (id: string) => {
    const listed = all.get(id) ?? { opened: null, effect: null, history: [] }
    all.set(id, listed)
    return listed
  }
  for (const leaf of leaves) {
    const incident = openedIn(leaf)
    if (incident !== null) of(leaf.subject_id).opened = { incident, at: leaf.received_at }
    const event = eventOf(leaf)
    const to = event === null ? null : movedTo(event)
    const effect = event === null ? null : effectIn(event)
    if (event !== null && effect !== null) of(event.subject_id).effect = effect
    if (event === null || to === null) continue
    const { at, actor: by, data } = event
    const from = (textOf(data.from) ?? 'open') as IncidentState
    of(event.subject_id).history.push({ at, by, from, to, note: textOf(data.note) })
  }
  for (const row of rows) of(row.id).opened ??= { incident: incidentOfRow(row), at: row.first_seen }
  return all
}

/** The row of a listed incident; null when nothing is known of its opening. */
export function incidentResult(
  id: string,
  { opened, effect, history }: Listed,
  tally: IncidentTally,
  nameOf: (agent_id: string) => string,
): IncidentResult[] {
  if (opened === null) return []
  const { severity, mode, policy_name, rule_type, agent_id, task_id, step, reason } = opened.incident
  return [
    {
      id,
      severity,
      state: tally.state,
      mode,
      policy_name,
      rule_type,
      agent_id,
      agent_name: nameOf(agent_id),
      task_id,
      step,
      opened_at: tally.opened === null ? opened.at : new Date(tally.opened).toISOString(),
      effect,
      reason,
      history: history.slice(-maxMoves),
    },
  ]
}
