// Lists of the audit trail.
import type { AuditEvent } from '@svc/schemas'
import type { Transaction } from '../../../db/db.js'
import { type Filter, type Listed, type Page, page } from '../../../db/list.js'
import type { Scope } from '../../../db/scope.js'
import { filters, utc } from '../../../db/sql.js'
import { rangeOf } from '../../../ledger/log-range.js'

const eventColumns = `id, log_index, ${utc('at')}, kind, actor_kind, actor_id, subject_kind, subject_id, data`

export async function listEvents(scope: Scope, tx: Transaction, filter: Filter, at: Page): Promise<Listed<AuditEvent>> {
  const where = filters([scope.org_id], 'org_id = $1')
    .add('kind = ?', filter.kind)
    .add('actor_id = ?', filter.actor)
    .add('subject_id = ?', filter.subject)
    .addRange('log_index', await rangeOf(scope, tx, filter))
  const listing = { table: 'events', columns: eventColumns, key: 'log_index', newest_first: true }
  return page<AuditEvent>(tx, listing, where, at)
}
