// Occurrences that are expired questions, and the approved steps that settle them.
import { isoTime } from '@svc/schemas'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { columnsOf, insertRows } from '../../db/sql.js'
import type { ApprovedStep, Question } from '../question.js'

const types = {
  org_id: 'text',
  task_id: 'text',
  action: 'bytea',
  policy_id: 'bigint',
  log_index: 'bigint',
  agent_id: 'text',
  approved_by_step: 'bigint',
  step: 'bigint',
  at: 'timestamptz',
} as const
const names = Object.keys(types) as (keyof typeof types)[]

function rowsOf({ org_id }: Scope, steps: readonly ApprovedStep[]) {
  return columnsOf(
    steps.map((step) => ({ org_id, ...step, at: isoTime(step.at) })),
    names,
  )
}

/** Remembers steps that gates approved, for questions that are reported later. */
export async function insertApprovedSteps(
  scope: Scope,
  tx: Transaction,
  steps: readonly ApprovedStep[],
): Promise<void> {
  await tx.query(insertRows('approved_steps', types), rowsOf(scope, steps))
}

/** An agent's question about a policy. */
interface AskedOf extends Question, Pick<ApprovedStep, 'agent_id' | 'task_id' | 'policy_id'> {}

/** For each question, in order: whether its step was recorded after it with an approval. */
export async function areAnswered({ org_id }: Scope, tx: Transaction, questions: readonly AskedOf[]) {
  const asked = questions.map((question) => ({ ...question, asked_at: isoTime(question.asked_at) }))
  const rows = await tx.query<{ is_answered: boolean }>(
    `select exists (
       select from approved_steps s where s.org_id = $1 and s.task_id = q.task_id and s.action = q.action
         and s.policy_id = q.policy_id and s.agent_id = q.agent_id and s.at >= q.asked_at) as is_answered
     from unnest($2::text[], $3::bytea[], $4::bigint[], $5::text[], $6::timestamptz[]) with ordinality
       as q(task_id, action, policy_id, agent_id, asked_at, number) order by q.number`,
    [org_id, ...columnsOf(asked, ['task_id', 'action', 'policy_id', 'agent_id', 'asked_at'])],
  )
  return rows.map(({ is_answered }) => is_answered)
}

/**
 * Settles the questions that the steps answer, each by the first one after it; returns their incidents. A question whose step is
 * known to have run without an approval stays as it is.
 */
export async function settleOccurrences(scope: Scope, tx: Transaction, steps: readonly ApprovedStep[]) {
  const arrays = names.map((name, index) => `$${index + 1}::${types[name]}[]`).join(', ')
  const rows = await tx.query<{ incident_id: string }>(
    `with found as (
       select distinct on (o.incident_id, o.number) o.incident_id, o.number, s.org_id, s.approved_by_step, s.step
       from unnest(${arrays}) as s(${names.join(', ')})
       join incident_occurrences o on o.org_id = s.org_id and o.task_id = s.task_id and o.question = s.action
         and o.policy_id = s.policy_id and o.agent_id = s.agent_id and o.asked_at <= s.at
       where o.effect = 'blocked' and not o.is_evaluated
       order by o.incident_id, o.number, s.log_index)
     update incident_occurrences o set approved_by_step = f.approved_by_step, settled_by_step = f.step, question = null
     from found f where o.org_id = f.org_id and o.incident_id = f.incident_id and o.number = f.number
     returning o.incident_id`,
    rowsOf(scope, steps),
  )
  return [...new Set(rows.map(({ incident_id }) => incident_id))]
}

export interface SettledIncident {
  readonly id: string
  readonly occurrences: number
  /** Of its last occurrence. */
  readonly approved_by_step: number
  readonly settled_by_step: number
}

/** Those of the incidents that have no other occurrence than settled questions. */
export async function settledIncidents({ org_id }: Scope, tx: Transaction, ids: readonly string[]) {
  if (ids.length === 0) return []
  return tx.query<SettledIncident>(
    `select distinct on (i.id) i.id, i.occurrences, o.approved_by_step, o.settled_by_step
     from incidents i join incident_occurrences o on o.org_id = i.org_id and o.incident_id = i.id
     where i.org_id = $1 and i.id = any($2::text[]) and i.occurrences = (
       select count(*) from incident_occurrences s
       where s.org_id = i.org_id and s.incident_id = i.id and s.settled_by_step is not null)
     order by i.id, o.number desc`,
    [org_id, ids],
  )
}
