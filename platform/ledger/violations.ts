// The violations of each entry, with their evidence: stored beside the log, which commits to the codes only.
import { messageOfViolation } from '@svc/engine/parts'
import type { StoredEntry } from '@svc/proof'
import type { StepViolation } from '@svc/schemas'
import type { Transaction } from '../db/db.js'
import type { Scope } from '../db/scope.js'
import { insertRows } from '../db/sql.js'

/** A row read with `violationColumns`. */
export type StoredViolation = Omit<StepViolation, 'asks' | 'message'> & { readonly asks: boolean | null }

/** Rows read with `violationColumns`, as the API returns them. */
export function shownViolations(stored: readonly StoredViolation[]): StepViolation[] {
  return stored.map(({ asks, ...row }) => {
    const shown = { ...row, ...(asks === true && { asks }) }
    return { ...shown, message: messageOfViolation(shown) }
  })
}

/** A row of log_violations `v` as a JSON object. */
export const violationColumns = `json_build_object('policy_id', v.policy_id, 'name', v.name, 'severity', v.severity,
  'mode', v.mode, 'waived', v.waived, 'asks', v.asks, 'manifest_id', v.manifest_id, 'violation_details', v.details)`

/** The violations of these entries, in the order of the log. The caller reads by index. */
export async function violationsAt(
  { org_id }: Scope,
  tx: Transaction,
  log_indexes: readonly number[],
): Promise<{ readonly log_index: number; readonly violation: StepViolation }[]> {
  const rows = await tx.query<{ log_index: number; violation: StoredViolation }>(
    `select v.log_index, ${violationColumns} as violation from log_violations v
     where v.org_id = $1 and v.log_index = any($2::bigint[]) order by v.log_index, v.policy_id`,
    [org_id, log_indexes],
  )
  return rows.flatMap(({ log_index, violation }) =>
    shownViolations([violation]).map((shown) => ({ log_index, violation: shown })),
  )
}

const types = {
  org_id: 'text',
  log_index: 'bigint',
  policy_id: 'bigint',
  name: 'text',
  severity: 'text',
  mode: 'text',
  waived: 'boolean',
  asks: 'boolean',
  manifest_id: 'text',
  details: 'json',
  task_id: 'text',
  seq: 'bigint',
}

/** A violation, with the place of its entry in the log and in its task. */
export interface NewViolation
  extends Omit<StepViolation, 'message'>,
    Pick<StoredEntry, 'log_index' | 'task_id' | 'seq'> {}

/** Stores violations of entries. */
export async function insertViolations(scope: Scope, tx: Transaction, rows: readonly NewViolation[]): Promise<void> {
  if (rows.length === 0) return
  await tx.query(insertRows('log_violations', types), [
    rows.map(() => scope.org_id),
    rows.map((row) => row.log_index),
    rows.map((row) => row.policy_id),
    rows.map((row) => row.name),
    rows.map((row) => row.severity),
    rows.map((row) => row.mode),
    rows.map((row) => row.waived),
    rows.map((row) => row.asks ?? null),
    rows.map((row) => row.manifest_id),
    rows.map((row) => JSON.stringify(row.violation_details)),
    rows.map((row) => row.task_id),
    rows.map((row) => row.seq),
  ])
}
