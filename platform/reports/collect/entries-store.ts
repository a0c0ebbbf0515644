// Reads the period in pages as text: one row for each page costs the thread that answers requests little.
import type { Range } from '@svc/proof'
import type { EntriesPage } from '@svc/report'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { readRoots } from '../../log/publish/store/period-checkpoints.js'

const inRange = 'org_id = $1 and log_index >= $2 and log_index < $3'

/** Its position in a payload, from 1. */
const evaluationAt = '{"evaluation":'.length + 1

/**
 * The evaluations of steps. The evaluation comes first in a payload and has no `]` in it, so that the rest of a long payload is not
 * read; `offset 0` computes each text once.
 */
const evaluations = `select p.log_index, p.salts, t.evaluation
  from log_payloads p
  cross join lateral (select substr(p.body, ${evaluationAt}, 16384) as text offset 0) b
  cross join lateral (select case when position(']' in b.text) > 0 then split_part(b.text, ']', 1)
    else split_part(substr(p.body, ${evaluationAt}), ']', 1) end || ']' as evaluation offset 0) t
  where ${inRange}`

/** Those of steps that violated a policy or that a gate approved, as `EvaluatedRow`. */
const evaluated = `select string_agg(json_build_array(log_index,
    substring(salts from '^{"evaluation":"([0-9a-f]*)"'), evaluation)::text, E'\\n') from evaluations
  where position('"violated":true' in evaluation) > 0 or position('"approved_by_step":' in evaluation) > 0`

/** Each text once, with the log indexes of its steps, as `AppliedRow`: most steps have one of a few. */
const applied = `select string_agg(json_build_array(evaluation, indexes)::text, E'\\n') from (
    select evaluation, json_agg(log_index) as indexes from evaluations where evaluation <> '[]' group by evaluation) texts`

/**
 * The payloads of steps that violated a critical policy, or for which a policy asked for an approval in vain, as `AskedRow`: they
 * show what was stopped.
 */
const asked = `select string_agg(json_build_array(log_index, salts, body)::text, E'\\n') from log_payloads
  where ${inRange} and body is not null and log_index in (
    select log_index from log_violations where ${inRange} and (asks or severity = 'critical' and mode <> 'observe' and not waived))`

/**
 * Steps that a local engine evaluated before they ran, and the ends of tasks that it wrote itself. Only a member of an object is
 * written this way: in a text of JSON its quotes are escaped.
 */
const decided = `select string_agg(log_index::text, ' ') from log_payloads where ${inRange}
  and (position('"svc.eval":{"' in body) > 0 and position('"svc.late":true' in body) = 0
    or position('"svc.end":"end_task"' in body) > 0)`

/**
 * Each table is read alone, by its range of log indexes, and the thread joins the rows: the embedded database took some ms of this
 * thread to plan a join of five tables. A record has no line break, unless it was altered.
 */
const pageQuery = `with evaluations as materialized (${evaluations}) select
  (select string_agg(log_index || E'\\t' || type || E'\\t' || leaf_hash, E'\\n') from log_leaves where ${inRange}) as leaves,
  (select string_agg(log_index || E'\\t' || replace(record, E'\\n', ' '), E'\\n') from log_entries where ${inRange}) as steps,
  (select string_agg(log_index::text, ' ') from log_payloads where ${inRange} and body is not null) as kept,
  (select string_agg(log_index::text, ' ') from memory_reads where ${inRange}) as memory,
  (${decided}) as decided,
  (select string_agg(json_build_array(log_index, hash, record, salts, body)::text, E'\\n')
   from log_records where ${inRange}) as records,
  (select string_agg(json_build_array(log_index, policy_id, name, severity, mode, waived, asks)::text, E'\\n'
     order by log_index, policy_id)
   from log_violations where ${inRange}) as violations,
  (${evaluated}) as evaluated,
  (${applied}) as applied,
  (${asked}) as asked`

type Texts = Omit<EntriesPage, 'from' | 'to' | 'checkpoints'>

/** A page of the period. `epoch`: of the cut-off. */
export async function readEntries(scope: Scope, tx: Transaction, range: Range, epoch: number): Promise<EntriesPage> {
  const { from, to } = range
  const [texts = noTexts] = await tx.query<Texts>(pageQuery, [scope.org_id, from, to])
  const checkpoints = await readRoots(scope, tx, range, epoch)
  return { from, to, ...texts, checkpoints }
}

const noTexts: Texts = {
  leaves: null,
  steps: null,
  kept: null,
  memory: null,
  decided: null,
  records: null,
  violations: null,
  evaluated: null,
  applied: null,
  asked: null,
}

/** The record at a log index; null when there is none. */
export async function recordAt({ org_id }: Scope, tx: Transaction, log_index: number): Promise<string | null> {
  const [row] = await tx.query<{ record: string | null }>(
    `select coalesce(
       (select e.record from log_entries e where e.org_id = $1 and e.log_index = $2),
       (select r.record from log_records r where r.org_id = $1 and r.log_index = $2)) as record`,
    [org_id, log_index],
  )
  return row?.record ?? null
}
