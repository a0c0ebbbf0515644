// Occurrences of incidents: each violation that an incident counts, whether the platform evaluated it or an engine reported it.
import { type Effect, type Incident, type IncidentOccurrence, isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Listed, Page } from '../../db/list.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows, readByIndex, utc } from '../../db/sql.js'
import type { Question } from '../question.js'
import type { IncidentKey } from './incidents.js'

/** The place of a violation: two violations of one place are the same occurrence. */
export interface OccurrencePlace extends IncidentKey {
  readonly step: number | null
  /** The evaluation that an engine made of the step; null when it is not known. */
  readonly evaluation_id: string | null
}

/** The first answer to a report. */
export type ReportOutcome = 'new' | 'counted' | 'known'

export interface NewOccurrence extends OccurrencePlace {
  readonly incident_id: string
  /** 1 for the first occurrence of the incident. */
  readonly number: number
  readonly log_id: string | null
  readonly is_evaluated: boolean
  readonly reported_as: ReportOutcome | null
  /** Why an engine reported it, such as executed_although_blocked. */
  readonly reported_reason: string | null
  readonly effect: Effect
  /** Of an expired question that an approval can settle; only when it is inserted. */
  readonly question?: Question | null
}

const types = {
  org_id: 'text',
  incident_id: 'text',
  number: 'bigint',
  policy_id: 'bigint',
  agent_id: 'text',
  task_id: 'text',
  step: 'bigint',
  at: 'timestamptz',
  log_id: 'text',
  is_evaluated: 'boolean',
  evaluation_id: 'text',
  reported_as: 'text',
  reported_reason: 'text',
  effect: 'text',
  question: 'bytea',
  asked_at: 'timestamptz',
} as const

/** Inserts occurrences; `now` is ms since 1970. */
export async function insertOccurrences(
  scope: Scope,
  tx: Transaction,
  now: number,
  occurrences: readonly NewOccurrence[],
): Promise<void> {
  if (occurrences.length === 0) return
  const fixed = { org_id: scope.org_id, at: isoTime(now) }
  const rows = occurrences.map(({ question, ...row }) => ({
    ...row,
    ...fixed,
    ...stored(row),
    question: question?.action ?? null,
    asked_at: question ? isoTime(question.asked_at) : null,
  }))
  await tx.query(
    insertRows('incident_occurrences', types),
    columnsOf(rows, Object.keys(types) as (keyof typeof types)[]),
  )
}

/** A registration has no task, and neither it nor the end of a task has a step: '' and 0, which an index can find. */
function stored({ task_id, step }: OccurrencePlace) {
  return { task_id: task_id ?? '', step: step ?? 0 }
}

/**
 * Stored occurrences with the evaluation or the step of one of these places, oldest first. `only_pending`: reports that the platform
 * has not evaluated yet and no approval has settled, of incidents that are not resolved: a report in advance must not hide what happens
 * after the resolution.
 */
export async function findOccurrences(
  scope: Scope,
  tx: Transaction,
  places: readonly OccurrencePlace[],
  only_pending = false,
): Promise<NewOccurrence[]> {
  const rows = places.map((place) => ({ ...place, ...stored(place) }))
  const pending = only_pending
    ? `and not o.is_evaluated and o.settled_by_step is null and exists (select from incidents i where i.org_id = $1 and i.id = o.incident_id and i.state <> 'resolved')`
    : ''
  // A report with an evaluation is never the same as one with another evaluation.
  const comparable = only_pending ? '' : 'and (s.is_unnamed or o.is_evaluated or o.evaluation_id is null)'
  // A step has any number of occurrences, where an engine counts its steps from 1 again: as many as places are enough. Reading
  // all 6,000 of one step took 1.2 s for 100 reports, under the lock of the log; this takes 30 ms.
  return tx.query<NewOccurrence>(
    `with k as (
       select * from unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[])
         as k(policy_id, agent_id, task_id, step, evaluation_id)
     ), steps as (
       select distinct policy_id, agent_id, task_id, step, evaluation_id is null as is_unnamed,
         count(*) over (partition by policy_id, agent_id, task_id, step) as wanted from k
     ), found as (
       select o.* from steps s cross join lateral (
         select * from incident_occurrences o where o.org_id = $1 and o.task_id = s.task_id and o.step = s.step
           and o.policy_id = s.policy_id and o.agent_id = s.agent_id ${comparable} ${pending}
         order by not s.is_unnamed and o.reported_as is not null, not s.is_unnamed and not o.is_evaluated, o.at,
           o.incident_id, o.number limit s.wanted) o
       union
       select o.* from k join incident_occurrences o on o.org_id = $1 and o.evaluation_id = k.evaluation_id
         and o.policy_id = k.policy_id and o.agent_id = k.agent_id and o.task_id = k.task_id ${pending}
     )
     select incident_id, number, policy_id, agent_id, nullif(task_id, '') as task_id, nullif(step, 0) as step, log_id,
       is_evaluated, evaluation_id, reported_as, reported_reason, effect
     from found order by at, incident_id, number`,
    [scope.org_id, ...columnsOf(rows, ['policy_id', 'agent_id', 'task_id', 'step', 'evaluation_id'])],
  )
}

/** An approval never settles what is known to have run without it. */
const unsettled = ['question', 'approved_by_step', 'settled_by_step']
  .map((name) => `${name} = case when u.effect = 'executed' then null else o.${name} end`)
  .join(', ')

const changed = ['step', 'log_id', 'is_evaluated', 'evaluation_id', 'reported_as', 'reported_reason', 'effect'] as const

/** Writes what was learned of occurrences. */
export async function updateOccurrences(
  scope: Scope,
  tx: Transaction,
  changes: readonly NewOccurrence[],
): Promise<void> {
  if (changes.length === 0) return
  const rows = changes.map((change) => ({ ...change, ...stored(change) }))
  const columns = ['incident_id', 'number', ...changed] as const
  const arrays = columns.map((name, index) => `$${index + 2}::${types[name]}[]`)
  await tx.query(
    `update incident_occurrences o set ${changed.map((name) => `${name} = u.${name}`).join(', ')}, ${unsettled}
     from unnest(${arrays.join(', ')}) as u(${columns.join(', ')})
     where o.org_id = $1 and o.incident_id = u.incident_id and o.number = u.number`,
    [scope.org_id, ...columnsOf(rows, columns)],
  )
}

/** The occurrences of an incident, oldest first. */
export async function listOccurrences(
  scope: Scope,
  tx: Transaction,
  incident: { readonly id: string; readonly task_id: string | null; readonly occurrences: number },
  { limit, after }: Page,
): Promise<Listed<IncidentOccurrence>> {
  await readByIndex(tx)
  const rows = await tx.query<IncidentOccurrence>(
    `select number, log_id, nullif(step, 0) as step, ${utc('at')}, evaluation_id, is_evaluated,
       reported_as is not null as is_reported, reported_reason, effect, approved_by_step, settled_by_step
     from incident_occurrences where org_id = $1 and incident_id = $2 and number > $3 order by number limit ${limit}`,
    [scope.org_id, incident.id, after ?? 0],
  )
  // The entry of a step that an engine alone found violated is the first one of this number in the task.
  const entries = await entriesOfSteps(
    scope,
    tx,
    incident.task_id ?? '',
    rows.flatMap(({ log_id, step }) => (log_id === null && step !== null ? [step] : [])),
  )
  const named = rows.map((row) => ({ ...row, log_id: row.log_id ?? entries.get(row.step) ?? null }))
  return { rows: named, total: incident.occurrences }
}

/** A violation of a logged step. */
interface LoggedViolation {
  readonly log_id: string
  readonly step: number
  readonly policy_id: number
}

/** An occurrence that the platform evaluated, with the incident that counts it. */
export interface CountedViolation extends Omit<LoggedViolation, 'step'> {
  readonly incident_id: string
  readonly effect: Effect
  readonly scope: Incident['scope']
}

/** The occurrences of violations of a task's steps; a waived violation has none. The caller reads by index. */
export async function countedViolations(
  { org_id }: Scope,
  tx: Transaction,
  task_id: string,
  violations: readonly LoggedViolation[],
): Promise<CountedViolation[]> {
  if (violations.length === 0) return []
  return tx.query<CountedViolation>(
    `select v.log_id, v.policy_id, o.incident_id, o.effect, o.scope
     from unnest($3::text[], $4::bigint[], $5::bigint[]) as v(log_id, step, policy_id)
     cross join lateral (
       select o.incident_id, o.effect, i.scope from incident_occurrences o
       join incidents i on i.org_id = o.org_id and i.id = o.incident_id
       where o.org_id = $1 and o.task_id = $2 and o.step = v.step and o.policy_id = v.policy_id and o.log_id = v.log_id limit 1
     ) o`,
    [org_id, task_id, ...columnsOf(violations, ['log_id', 'step', 'policy_id'])],
  )
}

async function entriesOfSteps(scope: Scope, tx: Transaction, task_id: string, steps: readonly number[]) {
  if (steps.length === 0) return new Map<number | null, string>()
  const rows = await tx.query<{ step: number; log_id: string }>(
    `select distinct on (step) step, log_id from log_entries
     where org_id = $1 and task_id = $2 and step = any($3::bigint[]) order by step, seq`,
    [scope.org_id, task_id, steps],
  )
  return new Map<number | null, string>(rows.map(({ step, log_id }) => [step, log_id]))
}
