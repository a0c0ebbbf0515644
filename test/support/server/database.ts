// Changes of a database from outside: restored logs, rewritten logs with matching hashes, and changes that are undone.
import { leafHash, recordText } from '@svc/proof'
import type { LeafRecord, LogRecord } from '@svc/schemas'

export type Sql = (text: string) => string

const tables = [
  'log_entries',
  'log_payloads',
  'log_leaves',
  'log_tiles',
  'log_records',
  'checkpoints',
  'org_log',
  'task_heads',
]

/** Keeps scheduled jobs from running in a database, for tests that move the clock by months and prune themselves. */
export function withoutJobs(sql: Sql): void {
  sql(`create function skip_job() returns trigger language plpgsql as 'begin return null; end';
    create trigger skip before insert on jobs for each row execute function skip_job()`)
}

/** Copies the log as it is now. */
export function dump(sql: Sql): void {
  sql(tables.map((table) => `create table old_${table} as table ${table};`).join(' '))
}

/** Restores the log from the copy of `dump`. */
export function restore(sql: Sql): void {
  const all = tables.map((table) => `delete from ${table}; insert into ${table} table old_${table};`)
  sql(`begin; set local app.pruning = 'on'; ${all.join(' ')} commit`)
}

/** Runs `check` after a change of these tables, and undoes the change. */
export async function whileChanged<T>(
  sql: Sql,
  changedTables: readonly string[],
  change: string,
  check: () => Promise<T>,
): Promise<T> {
  sql(`${changedTables.map((table) => `create table kept_${table} as table ${table};`).join('')} ${change}`)
  try {
    return await check()
  } finally {
    const undo = changedTables.map(
      (table) => `delete from ${table}; insert into ${table} table kept_${table}; drop table kept_${table};`,
    )
    sql(`begin; ${undo.join('')} commit`)
  }
}

/**
 * Rewrites the steps among the first `count` entries as external calls, with matching hashes, links, columns and heads;
 * deletes later entries and all checkpoints.
 */
export function rewriteLog(sql: Sql, count: number): void {
  const rows = sql(
    `select l.log_index, coalesce(e.record, r.record) from log_leaves l
     left join log_entries e on e.org_id = l.org_id and e.log_index = l.log_index
     left join log_records r on r.org_id = l.org_id and r.log_index = l.log_index order by l.log_index`,
  )
    .split('\n')
    .map((line) => line.split(/\|(.*)/s) as [string, string])
    .slice(0, count)
  const heads = new Map<string, string>()
  const changes = rows.map(([index, text]) => {
    const record = JSON.parse(text) as LogRecord | LeafRecord
    const forged = { ...record, after: { size: 0, root: emptyRoot } }
    if (forged.type === 'step') {
      Object.assign(forged, { prev_hash: heads.get(forged.task_id) ?? '', is_external_call: true })
      heads.set(forged.task_id, leafHash(recordText(forged)))
    }
    const record_text = recordText(forged)
    const table = forged.type === 'step' ? 'log_entries' : 'log_records'
    const more = forged.type === 'step' ? `, prev_hash = '${forged.prev_hash}', is_external_call = true` : ''
    return `update ${table} set record = $q$${record_text}$q$, hash = '${leafHash(record_text)}'${more} where log_index = ${index};
      update log_leaves set leaf_hash = '${leafHash(record_text)}' where log_index = ${index};`
  })
  const cut = ['log_entries', 'log_payloads', 'log_records', 'log_leaves']
    .map((table) => `delete from ${table} where log_index >= ${count};`)
    .join(' ')
  const tasks = [...heads].map(([task, hash]) => `update task_heads set hash = '${hash}' where task_id = '${task}';`)
  sql(`begin; ${cut} ${changes.join(' ')} ${tasks.join(' ')} delete from log_tiles; delete from checkpoints;
    update org_log set size = ${count}, checkpoint_size = 0, checkpoint_root = '${emptyRoot}'; commit`)
}

const emptyRoot = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
