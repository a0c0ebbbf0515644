// What a report finds in an altered log: each change is named, with its place.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  askForApprovals,
  changeWorkspace,
  importExamples,
  openReportLog,
  type ReportLog,
  reportDatabases,
  startReportPlatform,
} from '../../support/reports/report-log.js'
import { discard, type TestPlatform } from '../../support/server/platform.js'

/** Changes of the entry `:at` (null: of many; a name: one of `places`), the tables that they change, and the code of the problem that names it. */
const changes = [
  {
    name: 'a record',
    at: 300,
    tables: ['log_entries'],
    sql: `update log_entries set record = replace(record, '"step":', '"step":1') where log_index = :at`,
    code: 'record_altered',
  },
  {
    name: 'the hash of a leaf',
    at: 301,
    tables: ['log_leaves'],
    sql: `update log_leaves set leaf_hash = repeat('0', 64) where log_index = :at`,
    code: 'record_altered',
  },
  {
    name: 'a record with its leaf',
    at: 302,
    tables: ['log_entries', 'log_leaves'],
    sql: `update log_entries set record = '{}' where log_index = :at; update log_leaves set leaf_hash =
      encode(sha256('\\x00'::bytea || convert_to('{}', 'UTF8')), 'hex') where log_index = :at`,
    code: 'record_unreadable',
  },
  {
    name: 'a line break in a record',
    at: 303,
    tables: ['log_entries'],
    sql: `update log_entries set record = record || E'\\n' where log_index = :at`,
    code: 'record_altered',
  },
  {
    name: 'a deleted leaf',
    at: 304,
    tables: ['log_leaves'],
    sql: 'delete from log_leaves where log_index = :at',
    code: 'leaf_missing',
  },
  {
    name: 'a deleted record',
    at: 305,
    tables: ['log_entries'],
    sql: 'delete from log_entries where log_index = :at',
    code: 'record_missing',
  },
  {
    name: 'a deleted payload',
    at: 306,
    tables: ['log_payloads'],
    sql: 'delete from log_payloads where log_index = :at',
    code: 'payload_missing',
  },
  {
    name: 'an emptied payload',
    at: 307,
    tables: ['log_payloads'],
    sql: 'update log_payloads set salts = null, body = null where log_index = :at',
    code: 'payload_missing',
  },
  {
    name: 'deleted violations',
    at: 'violation',
    tables: ['log_violations'],
    sql: 'delete from log_violations where log_index = :at',
    code: 'violations_altered',
  },
  {
    name: 'an added violation',
    at: 302,
    tables: ['log_violations'],
    sql: `insert into log_violations select org_id, :at, policy_id, name, severity, mode, waived, asks, manifest_id, details, task_id, seq
      from log_violations limit 1`,
    code: 'violations_altered',
  },
  {
    name: 'an evaluation in a payload',
    at: 'violation',
    tables: ['log_payloads'],
    sql: `update log_payloads set body = replace(body, '"code":', '"code":"other') where log_index = :at`,
    code: 'payload_altered',
  },
  {
    name: 'who approved',
    at: 'gate',
    tables: ['log_payloads'],
    sql: `update log_payloads set body = replace(body, 'Mia Brandt', 'Another') where log_index = :at`,
    code: 'payload_altered',
  },
  {
    name: 'a deleted state of an engine',
    at: 'engine',
    tables: ['engine_intervals'],
    sql: 'delete from engine_intervals where log_index = :at',
    code: 'engine_state_missing',
  },
  {
    name: 'a state of an engine as enforcing',
    at: 'engine',
    tables: ['engine_intervals'],
    sql: `update engine_intervals set load_state = 'enforcing' where log_index = :at`,
    code: 'engine_state_altered',
  },
  {
    name: 'the begin of a state of an engine',
    at: 'engine',
    tables: ['engine_intervals'],
    sql: `update engine_intervals set seen_from = seen_from - interval '1 hour' where log_index = :at`,
    code: 'engine_state_altered',
  },
  {
    name: 'a state of an engine that no entry records',
    at: 'violation',
    tables: ['engine_intervals'],
    sql: `insert into engine_intervals select (jsonb_populate_record(i, '{"log_index": :at, "load_state": "enforcing"}')).*
      from engine_intervals i limit 1`,
    code: 'engine_state_altered',
  },
  {
    name: 'a deleted event',
    at: 'hold',
    tables: ['events'],
    sql: 'alter table events disable trigger user; delete from events where log_index = :at',
    code: 'event_missing',
  },
  {
    name: 'an event of another kind',
    at: 'hold',
    tables: ['events'],
    sql: `alter table events disable trigger user; update events set kind = 'agent.updated' where log_index = :at`,
    code: 'event_missing',
  },
  {
    name: 'a checkpoint whose note is that of another one',
    at: null,
    tables: ['checkpoints'],
    sql: `update checkpoints set note = (select note from checkpoints order by size limit 1)
      where size = (select max(size) from checkpoints)`,
    code: 'checkpoint_unsigned',
  },
  {
    name: 'violations of a policy as observed ones',
    at: null,
    tables: ['log_violations'],
    sql: `update log_violations set mode = 'observe'`,
    code: 'violations_altered',
  },
  {
    name: 'one violation as a waived one',
    at: null,
    tables: ['log_violations'],
    sql: `update log_violations set waived = true where ctid = (select max(ctid) from log_violations where mode = 'enforce')`,
    code: 'violations_altered',
  },
  {
    name: 'the content of an event',
    at: 0,
    tables: ['log_records'],
    sql: `update log_records set body = replace(body, 'workspace', 'Workspace') where log_index = :at`,
    code: 'leaf_altered',
  },
] as const

describe.each(await reportDatabases())('on $kind, a report of an altered log', ({ url }) => {
  let platform: TestPlatform
  let log: ReportLog
  beforeAll(async () => {
    platform = await askForApprovals(await startReportPlatform(url()))
    await importExamples(platform)
    await changeWorkspace(platform)
    await reportOutage(platform)
    log = await openReportLog(platform)
  })
  afterAll(async () => {
    await log.db.close()
    await discard(platform)
  })

  it.each(changes)('names $name', async ({ at, tables, sql, code }) => {
    const { pool } = log.db
    for (const table of tables) await pool.query(`create table kept_${table} as table ${table}`)
    const place = await placeOf(log, at)
    await pool.query(sql.replaceAll(':at', String(place)))
    try {
      const { integrity } = await log.collect(await log.plan())
      expect(integrity.verdict).toBe('problems')
      expect(integrity.problems.rows.map((row) => [row.code, row.log_index])).toContainEqual([code, place])
    } finally {
      for (const table of tables)
        await pool.query(`delete from ${table}; insert into ${table} table kept_${table}; drop table kept_${table}`)
    }
    expect((await log.collect(await log.plan())).integrity.verdict).toBe('whole')
  })

  it('names the part of the tree that differs when record and leaf match', async () => {
    const { pool } = log.db
    await pool.query('create table kept_leaves as table log_leaves; create table kept_entries as table log_entries')
    const next = `replace(record, '"has_write_permission":false', '"has_write_permission":true')`
    await pool.query(`update log_entries set record = ${next} where log_index between 90 and 110; update log_leaves l set leaf_hash =
      encode(sha256('\\x00'::bytea || convert_to(e.record, 'UTF8')), 'hex') from log_entries e
      where l.log_index = e.log_index and l.log_index between 90 and 110`)
    const { integrity } = await log.collect(await log.plan())
    await pool.query('delete from log_leaves; insert into log_leaves table kept_leaves')
    await pool.query('delete from log_entries; insert into log_entries table kept_entries')
    expect(integrity.problems.rows.map((row) => [row.code, row.log_index])).toEqual(
      expect.arrayContaining([
        ['root_mismatch', null],
        ['entries_altered', 0],
      ]),
    )
  })

  it('names a policy set that does not match its digest, and counts its steps as not to be evaluated again', async () => {
    const { pool } = log.db
    await pool.query('create table kept_sets as table policy_sets')
    await pool.query(`update policy_sets set body = replace(body, 'critical', 'low')`)
    const { integrity } = await log.collect(await log.plan())
    await pool.query('delete from policy_sets; insert into policy_sets table kept_sets')
    expect(integrity.problems.rows.map(({ code }) => code)).toContain('policy_set_altered')
    expect(integrity.rejudge.others.map(({ reason }) => reason)).toContain('policy_set_missing')
  })

  it('is the same when a witness, or a name of one, joins a note', async () => {
    const plan = await log.plan()
    const before = await log.collect(plan)
    await log.db.pool.query(`update checkpoints set note = note || '— witness.example ' || repeat('A', 100) || E'\n'`)
    expect(await log.collect(plan)).toEqual(before)
    expect(before.integrity.checkpoint.note.split('\n')).toHaveLength(6)
  })

  it('rejects a cut-off that was never published', async () => {
    const plan = await log.plan({ root: '0'.repeat(64) })
    await expect(log.collect(plan)).rejects.toMatchObject({ code: 'CONFLICT' })
  })
})

/** An engine that loaded no policies for an hour. */
async function reportOutage({ call }: TestPlatform): Promise<void> {
  const at = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()
  const engine = { agent_key: 'approvals', instance_id: 'a-run', version: '1.0.0' }
  for (const state of [
    { load_state: 'unavailable', policy_count: 0, since: at(2), until: at(1) },
    { load_state: 'enforcing', policy_count: 3, since: at(1) },
  ]) {
    const body = { ...engine, ...state }
    expect((await call('POST', '/api/v1/engines/heartbeat', { as: 'key', body })).status).toBe(204)
  }
}

const places = {
  hold: `select min(log_index)::int as at from events where kind = 'hold.placed'`,
  engine: 'select min(log_index)::int as at from engine_intervals',
  violation: 'select min(log_index)::int as at from log_violations',
  gate: `select min(log_index)::int as at from log_payloads where position('Mia Brandt' in body) > 0`,
} as const

/** A named place, or the first step from a log index on: tasks are imported at once, so that events can be anywhere between steps. */
async function placeOf({ query }: ReportLog, at: keyof typeof places | number | null): Promise<number | null> {
  if (at === 0 || at === null) return at
  const first = `select min(log_index)::int as at from log_entries where log_index >= ${at}`
  const [row] = await query<{ at: number }>(typeof at === 'string' ? places[at] : first)
  return row?.at ?? 0
}
