// Changes of a stored history by a person who holds the database and not the signing key.
import { withUnscopedTransaction } from '../../../platform/db/db.js'
import { pick, type Random } from '../engine/policy-pairs.js'
import type { HistoryWorkspace } from './history-platform.js'

interface Alteration {
  readonly name: string
  /** Whether it changes what a bundle holds. */
  readonly is_in_log: boolean
  /** False if nothing that is left shows the change: a report must not state that it did not happen. */
  readonly is_provable?: false
  /** One statement on the rows of an organization. */
  readonly statement: string
}

const anEntry = 'org_id = $1 and log_index = (select min(log_index) from log_entries where org_id = $1)'

/** After its retention the event of a state is deleted, and its row cannot be compared (docs/design/reports.md §3). */
const isRecorded = 'exists (select from log_records r where r.org_id = $1 and r.log_index = i.log_index)'

/** The evaluation that the record of the step commits to can be read. */
const isKept =
  'exists (select from log_payloads p where p.org_id = $1 and p.log_index = v.log_index and p.body is not null)'

const alterations: readonly Alteration[] = [
  {
    name: 'the time of a record',
    is_in_log: true,
    statement: `update log_entries set record = replace(record, '"received_at":"2', '"received_at":"1') where ${anEntry}`,
  },
  {
    name: 'the agent of a record',
    is_in_log: true,
    statement: `update log_entries set record = replace(record, '"agent_id":"', '"agent_id":"x') where ${anEntry}`,
  },
  { name: 'a step that is gone', is_in_log: true, statement: `delete from log_entries where ${anEntry}` },
  {
    name: 'another leaf',
    is_in_log: true,
    statement: `update log_leaves set leaf_hash = repeat('0', 64) where ${anEntry}`,
  },
  {
    name: 'evaluations without violations',
    is_in_log: true,
    statement: `update log_payloads set body = replace(body, '"violated":true', '"violated":false')
      where org_id = $1 and body like '%"violated":true%'`,
  },
  {
    name: 'the content of events',
    is_in_log: true,
    statement: `update log_records set body = replace(body, '"kind":"incident.', '"kind":"incidental.')
      where org_id = $1 and body like '%"kind":"incident.%'`,
  },
  {
    name: 'policy sets with other severities',
    is_in_log: true,
    statement: `update policy_sets set body = replace(body, '"severity":"critical"', '"severity":"low"')
      where org_id = $1 and digest in (select policy_set from log_entries where org_id = $1)`,
  },
  {
    name: 'violations that are gone',
    is_in_log: false,
    statement: `delete from log_violations v where org_id = $1 and ${isKept}`,
  },
  {
    name: 'violations of erased steps that are gone',
    is_in_log: false,
    is_provable: false,
    statement: `delete from log_violations v where org_id = $1 and not ${isKept}`,
  },
  {
    name: 'violations as waived',
    is_in_log: false,
    statement: `update log_violations set waived = true where org_id = $1 and name = 'No commands'`,
  },
  {
    name: 'violations after the end of their waiver as waived',
    is_in_log: false,
    statement: `update log_violations v set waived = true where org_id = $1 and not waived
      and exists (select from policies p where p.org_id = $1 and p.id = v.policy_id and p.waived_until is not null)`,
  },
  {
    name: 'violations as observed',
    is_in_log: false,
    statement: `update log_violations set mode = 'observe' where org_id = $1 and mode = 'enforce'`,
  },
  {
    name: 'engines that never stopped',
    is_in_log: false,
    statement: `update engine_intervals i set ended = false where org_id = $1 and ended and ${isRecorded}`,
  },
  {
    name: 'states of engines that are gone',
    is_in_log: false,
    statement: `delete from engine_intervals i where org_id = $1 and ${isRecorded}`,
  },
]

/** Makes one of the changes that find a row; null when none does. */
export async function alterHistory({ db, scope }: HistoryWorkspace, random: Random): Promise<Alteration | null> {
  for (let left = [...alterations]; left.length > 0; ) {
    const chosen = pick(random, left)
    const changed = await withUnscopedTransaction(db, (tx) =>
      tx.query(`${chosen.statement} returning 1`, [scope.org_id]),
    )
    if (changed.length > 0) return chosen
    left = left.filter((one) => one !== chosen)
  }
  return null
}
