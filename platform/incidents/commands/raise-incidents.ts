// Violations become incidents (docs/design/platform.md §4), in the transaction of their evaluation.
import { isoTime, type StepViolation } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import {
  countOccurrences,
  type IncidentKey,
  insertIncidents,
  latestIncidents,
  type NewIncident,
} from '../store/incidents.js'

/** A violation with its agent, task, entry and step; a registration has none of the last three. */
export interface FoundViolation extends IncidentKey {
  readonly log_id: string | null
  readonly step: number | null
  readonly scope: NewIncident['scope']
  readonly risk_score: number
  readonly violation: StepViolation
}

/**
 * Counts the violations of each policy, agent and task on their latest incident if that is open, active or ignored; otherwise
 * opens an incident. Waived violations are skipped. The log must be locked.
 */
export async function raiseIncidents(
  scope: Scope,
  tx: Transaction,
  now: number,
  found: readonly FoundViolation[],
): Promise<void> {
  const groups = groupByKey(found.filter(({ violation }) => !violation.waived))
  if (groups.size === 0) return
  const latest = await latestIncidents(
    scope,
    tx,
    [...groups.values()].map(([first]) => first),
  )
  const known = new Map(
    latest.filter(({ state }) => state !== 'resolved').map((incident) => [keyOf(incident), incident.id]),
  )
  const counts: { id: string; occurrences: number }[] = []
  const opened: NewIncident[] = []
  for (const [key, group] of groups) {
    const id = known.get(key)
    if (id === undefined) opened.push(newIncident(group, now))
    else counts.push({ id, occurrences: group.length })
  }
  await countOccurrences(scope, tx, now, counts)
  await insertIncidents(scope, tx, now, opened)
  await recordEvents(scope, tx, now, opened.map(openedEvent))
}

type Group = [FoundViolation, ...FoundViolation[]]

function groupByKey(found: readonly FoundViolation[]): Map<string, Group> {
  const groups = new Map<string, Group>()
  for (const violation of found) {
    const known = groups.get(keyOf(violation))
    if (known === undefined) groups.set(keyOf(violation), [violation])
    else known.push(violation)
  }
  return groups
}

function keyOf({ policy_id, agent_id, task_id }: IncidentKey): string {
  return JSON.stringify([policy_id, agent_id, task_id])
}

function newIncident(group: Group, now: number): NewIncident {
  const [{ policy_id, agent_id, task_id, log_id, step, scope, risk_score, violation }] = group
  const at = isoTime(now)
  return {
    id: newId('inc', now),
    agent_id,
    task_id,
    log_id,
    step,
    policy_id,
    scope,
    risk_score,
    policy_name: violation.name,
    rule_type: violation.violation_details.rule_type,
    manifest_id: violation.manifest_id,
    severity: violation.severity,
    mode: violation.mode,
    violation_details: violation.violation_details,
    occurrences: group.length,
    first_seen: at,
    last_seen: at,
  }
}

function openedEvent(incident: NewIncident) {
  const { id, policy_id, agent_id, task_id, severity } = incident
  return {
    kind: 'incident.opened',
    subject_kind: 'incident',
    subject_id: id,
    data: { policy_id, agent_id, task_id, severity },
  }
}
