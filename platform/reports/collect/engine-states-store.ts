// Reads what engines reported beside the events that recorded it: the log commits to the events, and reports count the rows.

import type { EngineStateRow } from '@svc/report'
import type { Transaction } from '../../db/db.js'
import type { Scope } from '../../db/scope.js'
import { utcText } from '../../db/sql.js'
import { leafRow } from './facts-store.js'

export interface StatePlace {
  readonly agent_id: string
  readonly log_index: number
}

/** The next rows after one of them, in the order of agents and log indexes, which is that of an index. */
export function readEngineStates({ org_id }: Scope, tx: Transaction, after: StatePlace, size: number, limit: number) {
  return tx.query<EngineStateRow>(
    `select i.agent_id, i.log_index, i.instance_id, i.load_state, i.ended, ${utcText('i.since')} as since,
       ${utcText('i.seen_from')} as known_from, ${utcText('i.last_seen_at')} as known_until,
       case when r.log_index is not null then ${leafRow} end as line,
       i.log_index >= 0 and r.log_index is null and l.type is distinct from 'event' as is_unrecorded
     from engine_intervals i
     left join log_records r on r.org_id = $1 and r.log_index = i.log_index
     left join log_leaves l on l.org_id = $1 and l.log_index = i.log_index
     where i.org_id = $1 and (i.agent_id, i.log_index) > ($2, $3) and i.log_index < $4
     order by i.agent_id, i.log_index limit $5`,
    [org_id, after.agent_id, after.log_index, size, limit],
  )
}

/** The next events of engines, and whether each has its row. */
export function readEngineEvents({ org_id }: Scope, tx: Transaction, after: number, size: number, limit: number) {
  return tx.query<{ readonly log_index: number; readonly has_row: boolean }>(
    `select v.log_index, exists (select from engine_intervals i where i.org_id = $1 and i.agent_id = v.subject_id
       and i.log_index = v.log_index) as has_row
     from events v where v.org_id = $1 and v.kind = 'engine.state' and v.log_index > $2 and v.log_index < $3
     order by v.log_index limit $4`,
    [org_id, after, size, limit],
  )
}
