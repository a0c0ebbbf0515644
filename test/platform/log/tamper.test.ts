// Changes of the stored rows of a task: verification reports each with its location.
import type { Verification } from '@svc/schemas'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('the verification of a task', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  // One connection for hundreds of changes: a psql process per change would take most of the time.
  const client = new pg.Client({ connectionString: url })
  /** The only value of the last of the statements, as text. */
  const sql = async (text: string): Promise<string> => {
    const results = [await client.query(text)].flat()
    return String(Object.values(results.at(-1)?.rows[0] ?? {})[0])
  }
  const verify = async () => (await platform.call<Verification>('GET', '/api/v1/tasks/t/verify')).body

  beforeAll(async () => {
    // The steps are leaves 6 to 9. signed-task.test.ts covers signed tasks.
    await client.connect()
    platform = await startPlatform({ database_url: url, env: { SVC_CHECKPOINT_SECONDS: '0' } })
    await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
    const timestamp = '2026-01-05T09:00:00.000Z'
    const payload = {
      step_name: 'book',
      verb: 'POST',
      input: { seat: '12A' },
      output: { ok: true },
      properties: { 'data.classification': 'x' },
      meta: { m: 1 },
    }
    const steps = ['START_NODE', 'step.resource', 'step.resource', 'END_NODE'].map((step_type, index) => ({
      task_id: 't',
      step: index + 1,
      step_type,
      timestamp,
      prev_hash: '',
      ...payload,
    }))
    for (const body of steps) await platform.call('POST', '/api/v1/logs', { as: 'key', body })
    await sql(
      'create table kept_entries as table log_entries; create table kept_payloads as table log_payloads; create table kept_heads as table task_heads; create table kept_leaves as table log_leaves',
    )
  })
  afterAll(async () => {
    await discard(platform)
    await client.end()
  })

  const restore = () =>
    sql(`begin; delete from log_entries; insert into log_entries table kept_entries; delete from log_payloads; insert into log_payloads table kept_payloads;
      delete from task_heads; insert into task_heads table kept_heads; delete from log_leaves; insert into log_leaves table kept_leaves; commit`)

  it('reports no finding for unchanged rows', async () => {
    expect((await verify()).integrity).toEqual({ ok: true, first_bad: null })
  })

  const columns = async (table: string) => {
    const listed = await sql(
      `select string_agg(column_name || ':' || data_type, ',' order by ordinal_position) from information_schema.columns where table_name = '${table}'`,
    )
    const all = listed.split(',').map((column) => column.split(':') as [string, string])
    // The count of violations is for lists, and no verification reads it.
    return all.filter(([column]) => column !== 'violations')
  }

  /** The smallest changes of a column, by its type. */
  const changes = (column: string, type: string): string[] => {
    if (type === 'bigint') return [`${column} + 1000`, `${column} - 1000`]
    if (type === 'boolean') return [`not ${column}`]
    if (type.startsWith('timestamp')) return [`${column} + interval '1 millisecond'`]
    const replaced = [1, 2, 9, 33, 40].map(
      (at) =>
        `overlay(${column} placing (case substr(${column}, ${at}, 1) when '7' then '8' else '7' end) from ${at} for 1)`,
    )
    return [...replaced, `${column} || ' '`, `' ' || ${column}`, `substr(${column}, 2)`]
  }

  const rows: readonly (readonly [table: string, where: string])[] = [
    ['log_entries', "task_id = 't' and seq = 2"],
    ['log_entries', "task_id = 't' and seq = 4"],
    ['log_payloads', 'log_index = 7'],
    ['task_heads', "task_id = 't'"],
    ['log_leaves', 'log_index = 7'],
  ]

  it.each(rows)('finds each changed column of %s where %s', async (table, where) => {
    const missed: string[] = []
    for (const [column, type] of await columns(table)) {
      for (const change of changes(column, type)) {
        const update = `update ${table} set ${column} = ${change} where ${where} and ${column} is distinct from (${change})`
        if ((await sql(`with changed as (${update} returning 1) select count(*) from changed`)) === '0') continue
        const { integrity, valid } = await verify()
        if (integrity.ok || valid || integrity.first_bad === null || integrity.first_bad.message === '')
          missed.push(`${column} = ${change}`)
        await restore()
      }
    }
    expect(missed).toEqual([])
  })

  it('finds changed bytes of a record, its salts and its values', async () => {
    const missed: string[] = []
    for (const [table, column, key] of [
      ['log_entries', 'record', 'log_index = 7'],
      ['log_payloads', 'body', 'log_index = 7'],
      ['log_payloads', 'salts', 'log_index = 7'],
    ] as const) {
      const length = Number(await sql(`select length(${column}) from ${table} where ${key}`))
      for (let at = 1; at <= length; at += 41) {
        await sql(
          `update ${table} set ${column} = overlay(${column} placing (case substr(${column}, ${at}, 1) when 'a' then 'b' else 'a' end) from ${at} for 1) where ${key}`,
        )
        if ((await verify()).integrity.ok) missed.push(`${column} at ${at}`)
        await restore()
      }
    }
    expect(missed).toEqual([])
  })

  it.each([
    ['a missing last entry', "delete from log_entries where task_id = 't' and seq = 4", 'missing_seq'],
    ['a missing entry in the middle', "delete from log_entries where task_id = 't' and seq = 2", 'missing_seq'],
    ['a missing payload', 'delete from log_payloads where log_index = 8', 'payload_mismatch'],
    ['a missing leaf', 'delete from log_leaves where log_index = 8', 'not_in_tree'],
    ['a missing head', "delete from task_heads where task_id = 't'", 'projection_mismatch'],
    [
      'two swapped payloads',
      'update log_payloads set log_index = case log_index when 7 then 908 when 8 then 907 end where log_index in (7, 8); update log_payloads set log_index = log_index - 900 where log_index > 900',
      'payload_mismatch',
    ],
    [
      'two swapped entries',
      "update log_entries set seq = 5 - seq where task_id = 't' and seq in (2, 3)",
      'link_broken',
    ],
  ])('finds %s', async (_, change, code) => {
    await sql(change)
    const { integrity } = await verify()
    await restore()
    expect(integrity).toMatchObject({ ok: false, first_bad: { code } })
  })
})
