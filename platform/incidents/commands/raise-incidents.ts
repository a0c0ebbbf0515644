// Violations become incidents (docs/design/platform.md §4), in the transaction of their evaluation.
import { countEffects, type Effect, isoTime, mergedEffect, type StepViolation, worstEffect } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import { newId } from '../../db/ids.js'
import type { Scope } from '../../db/scope.js'
import { recordEvents } from '../../ledger/events.js'
import { queueDeliveries, type Triggering } from '../actions/triggers.js'
import type { Question } from '../question.js'
import {
  type AddedCounts,
  addCounts,
  type ChangedCounts,
  confirmIncidents,
  type IncidentKey,
  insertIncidents,
  latestIncidents,
  type NewIncident,
  type OpenedBy,
} from '../store/incidents.js'
import {
  findOccurrences,
  insertOccurrences,
  type NewOccurrence,
  type OccurrencePlace,
  updateOccurrences,
} from '../store/occurrences.js'

/** A violation with its agent, task, entry and step; a registration has none of the last three. */
export interface FoundViolation extends OccurrencePlace {
  readonly log_id: string | null
  readonly scope: NewIncident['scope']
  readonly risk_score: number
  readonly violation: Omit<StepViolation, 'message'>
  /** Why an engine reported it; absent for what the platform found. */
  readonly reported_reason?: string | null
  readonly effect: Effect
  /** Of an expired question that an approval can settle. */
  readonly question?: Question | null
}

/** The incident that counts a violation, and whether the violation opened it. */
export interface Counted {
  readonly incident_id: string
  readonly outcome: 'new' | 'counted'
}

/**
 * Counts the violations that the platform found. Waived ones are skipped, and those that an engine has reported before are
 * not counted again. The log must be locked.
 */
export async function raiseIncidents(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  found: readonly FoundViolation[],
): Promise<void> {
  const violations = found.filter(({ violation }) => !violation.waived)
  if (violations.length === 0) return
  const unreported = await joinReports(scope, tx, now, violations)
  await countViolations(triggering, scope, tx, now, unreported, 'evaluated')
}

/** Joins violations with the reports of the same occurrences; returns those without a report. */
async function joinReports(scope: Scope, tx: Transaction, now: number, violations: readonly FoundViolation[]) {
  const reports = new Set(await findOccurrences(scope, tx, violations, true))
  if (reports.size === 0) return violations
  const joined: Learned[] = []
  const confirmed: OpenedBy[] = []
  const unreported = violations.filter((violation) => {
    const report = sameEvaluation(reports, violation) ?? sameStep(reports, violation)
    if (report === undefined) return true
    // Each report is of one violation, also when a task has two steps of one number.
    reports.delete(report)
    joined.push({ before: report, now: joinedWith(report, violation) })
    if (report.number === 1) confirmed.push(openedBy(report, violation))
    return false
  })
  await learnOccurrences(scope, tx, now, joined)
  await confirmIncidents(scope, tx, confirmed)
  return unreported
}

/** A decision whose step was not recorded in time has no number until the step comes. */
function joinedWith(report: NewOccurrence, { log_id, step, effect }: FoundViolation): NewOccurrence {
  const merged = mergedEffect(report.effect, effect)
  return { ...report, log_id, step: report.step ?? step, is_evaluated: true, effect: merged }
}

/** An agent can report its own violation in advance, as harmless: what the platform finds takes precedence. */
function openedBy(
  { incident_id: id }: NewOccurrence,
  { log_id, step, risk_score, violation }: FoundViolation,
): OpenedBy {
  const { mode, violation_details } = violation
  return { id, log_id, step, mode, risk_score, violation_details }
}

/** An occurrence before and after more of it became known. */
export interface Learned {
  readonly before: NewOccurrence
  readonly now: NewOccurrence
}

/** Writes what was learned of occurrences, and counts their effects on their incidents. */
export async function learnOccurrences(
  scope: Scope,
  tx: Transaction,
  now: number,
  learned: readonly Learned[],
): Promise<void> {
  await updateOccurrences(
    scope,
    tx,
    learned.map((one) => one.now),
  )
  const added = new Map<string, AddedCounts>()
  for (const { before, now: after } of learned) {
    if (before.effect === after.effect) continue
    const { incident_id: id } = after
    const counts = added.get(id) ?? { id, occurrences: 0, blocked: 0, executed: 0 }
    const change = (effect: 'blocked' | 'executed') =>
      Number(after.effect === effect) - Number(before.effect === effect)
    const [blocked, executed] = [counts.blocked + change('blocked'), counts.executed + change('executed')]
    added.set(id, { ...counts, blocked, executed })
  }
  await recordEvents(scope, tx, now, effectEvents(await addCounts(scope, tx, now, [...added.values()])))
}

/** The log itself shows when a further occurrence makes an incident worse: its leaf has the effect of the first ones. */
function effectEvents(changed: readonly ChangedCounts[]) {
  return changed
    .filter(({ effect, effect_before }) => effect !== effect_before)
    .map(({ id, agent_id, effect, effect_before }) => ({
      kind: 'incident.effect_changed',
      subject_kind: 'incident',
      subject_id: id,
      data: { agent_id, from: effect_before, to: effect },
    }))
}

/** The occurrence with the same evaluation. */
export function sameEvaluation<T extends OccurrencePlace>(among: Iterable<T>, place: OccurrencePlace): T | undefined {
  const { evaluation_id } = place
  if (evaluation_id === null) return undefined
  return [...among].find((one) => keyOf(one) === keyOf(place) && one.evaluation_id === evaluation_id)
}

/** The occurrence at the same step. */
export function sameStep<T extends OccurrencePlace>(among: Iterable<T>, place: OccurrencePlace): T | undefined {
  return [...among].find((one) => keyOf(one) === keyOf(place) && one.step === place.step)
}

/**
 * Counts the violations of each policy, agent and task on their latest incident if that is open, active or ignored;
 * otherwise opens an incident. Returns the incident of each violation, in order. The log must be locked.
 */
export async function countViolations(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  violations: readonly FoundViolation[],
  by: 'evaluated' | 'reported',
): Promise<Counted[]> {
  const groups = groupByKey(violations)
  if (groups.size === 0) return []
  const firsts = [...groups.values()].map(([first]) => first)
  const latest = await latestIncidents(scope, tx, firsts)
  const known = new Map(
    latest.filter(({ state }) => state !== 'resolved').map((incident) => [keyOf(incident), incident.id]),
  )
  const counts: AddedCounts[] = []
  const opened: NewIncident[] = []
  for (const [key, group] of groups) {
    const id = known.get(key)
    if (id === undefined) opened.push(newIncident(group, now))
    else counts.push({ id, occurrences: group.length, ...effectsOf(group) })
  }
  const changed = await addCounts(scope, tx, now, counts)
  const totals = new Map(changed.map(({ id, occurrences }) => [id, occurrences]))
  await recordEvents(scope, tx, now, effectEvents(changed))
  await openIncidents(triggering, scope, tx, now, opened)
  const ids = new Map([...known, ...opened.map((incident) => [keyOf(incident), incident.id] as const)])
  const is_new = new Set(opened.map(({ id }) => id))
  const rows = [...groups].flatMap(([key, group]) => {
    const incident_id = ids.get(key) ?? ''
    const first = (totals.get(incident_id) ?? group.length) - group.length + 1
    return group.map((violation, index) => ({
      violation,
      row: occurrenceOf(violation, incident_id, first + index, by),
    }))
  })
  await insertOccurrences(
    scope,
    tx,
    now,
    rows.map(({ row }) => row),
  )
  const counted = new Map(rows.map(({ violation, row }) => [violation, row]))
  return violations.map((violation) => {
    const { incident_id = '', number = 0 } = counted.get(violation) ?? {}
    return { incident_id, outcome: number === 1 && is_new.has(incident_id) ? 'new' : 'counted' }
  })
}

/** Every opened incident goes through here. */
async function openIncidents(
  triggering: Triggering,
  scope: Scope,
  tx: Transaction,
  now: number,
  opened: readonly NewIncident[],
) {
  await insertIncidents(scope, tx, now, opened)
  await recordEvents(scope, tx, now, opened.map(openedEvent))
  await queueDeliveries(triggering, scope, tx, now, opened.map(openedOccurrence))
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

function effectsOf(group: Group) {
  return countEffects(group.map(({ effect }) => effect))
}

function keyOf({ policy_id, agent_id, task_id }: IncidentKey): string {
  return JSON.stringify([policy_id, agent_id, task_id])
}

function occurrenceOf(
  { policy_id, agent_id, task_id, step, evaluation_id, log_id, effect, ...reported }: FoundViolation,
  incident_id: string,
  number: number,
  by: 'evaluated' | 'reported',
): NewOccurrence {
  const is_evaluated = by === 'evaluated'
  const reported_as = is_evaluated ? null : number === 1 ? 'new' : 'counted'
  const place = { policy_id, agent_id, task_id, step, evaluation_id, log_id }
  const { reported_reason = null, question = null } = reported
  return { ...place, incident_id, number, is_evaluated, reported_as, reported_reason, effect, question }
}

function newIncident(group: Group, now: number): NewIncident {
  const [{ policy_id, agent_id, task_id, log_id, step, scope, risk_score, violation }] = group
  const at = isoTime(now)
  const effects = effectsOf(group)
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
    effect: worstEffect(effects),
    effects,
    first_seen: at,
    last_seen: at,
  }
}

/** Further occurrences trigger no action: an agent that repeats itself would flood the receiver. */
function openedOccurrence({ id, severity, agent_id, policy_id }: NewIncident) {
  const subject = { subject_kind: 'incident', subject_id: id } as const
  return { on: 'incident.created', ...subject, severity, agent_id, policy_id } as const
}

function openedEvent(incident: NewIncident) {
  const { id, policy_id, agent_id, task_id, severity, effect } = incident
  return {
    kind: 'incident.opened',
    subject_kind: 'incident',
    subject_id: id,
    data: { policy_id, agent_id, task_id, severity, effect },
  }
}
