// Issues a report as the room of reports does: the leaf that holds the SHA-256 of its file.
import { readConfig } from '@svc/platform'
import { openDatabase, withTransaction } from '../../../platform/db/db.js'
import { scopeOf } from '../../../platform/db/scope.js'
import { appendLeaves } from '../../../platform/ledger/leaves.js'
import { sha256Hex } from '../../../proof/json/hex.js'

export interface Issued {
  readonly org_id: string
  readonly id: string
  readonly from: string
  readonly to: string
  readonly cut_off: { readonly size: number; readonly root: string }
  readonly file: Uint8Array
  readonly at: number
}

/** Appends the leaf of a report to the log of an organization. */
export async function issueReport(database_url: string, { org_id, id, from, to, cut_off, file, at }: Issued) {
  const db = await openDatabase(readConfig({ SVC_DATABASE_URL: database_url }).value)
  const read = { cut_off: cut_off.size, root: cut_off.root, sha256: sha256Hex(file), bytes: file.length }
  const report = { id, format: 'pdf', from, to, agent_ids: null, ...read }
  const scope = scopeOf(org_id, { kind: 'system', id: 'reports' })
  await withTransaction(db, scope, (tx) =>
    appendLeaves(scope, tx, at, [{ type: 'report', subject_id: id, data: { report } }]),
  )
  await db.close()
}
