// Random changes of the stored rows of tasks, one at a time: verification finds each, and reports no finding without a change.
import type { Verification } from '@svc/schemas'
import fc from 'fast-check'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'

const mutations = Number(process.env.SVC_MUTATIONS ?? 100)
const postgres = await sharedPostgres()

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
}

interface Mutation {
  readonly table: number
  readonly column: number
  readonly row: number
  readonly other: number
  readonly kind: 'edit' | 'copy' | 'empty' | 'delete' | 'nothing'
  readonly at: number
  readonly character: string
}

/** The rows that the verification of a task reads; other leaves count by their hashes only. */
const tables: Readonly<Record<string, string>> = {
  log_entries: 'true',
  log_payloads: 'true',
  log_leaves: `type = 'step'`,
  task_heads: 'true',
}

describe.skipIf(postgres === null)('the stored rows of tasks', () => {
  if (postgres === null) return
  it(`are invalid after each of ${mutations} changes`, async () => {
    const url = postgres.freshDatabase()
    const first = await startPlatform({ database_url: url, env: fast })
    await register(first)
    const tasks = ['one', 'two', 'three']
    for (const task of tasks) await logSteps(first, task, 5)
    await first.call('POST', '/api/v1/erasures', { body: { task_id: 'three', legal_basis: 'a test' } })
    await checkpointOf(first, 15 + 2)
    await first.close()
    const env = { ...fast, SVC_CHECKPOINT_SECONDS: '0' }
    const platform = await startPlatform({ database_url: url, data_dir: first.data_dir, env })
    const db = new pg.Client(url)
    await db.connect()
    for (const table of Object.keys(tables)) await db.query(`create table kept_${table} as table ${table}`)
    const columns = (
      await db.query<Column>(
        `select table_name as table, column_name as name, data_type as type from information_schema.columns
         where table_name = any($1) and column_name <> 'violations' order by table_name, ordinal_position`,
        [Object.keys(tables)],
      )
    ).rows
    const areValid = async () => {
      for (const task of tasks) {
        const { status, body } = await platform.call<Verification>('GET', `/api/v1/tasks/${task}/verify`)
        if (status !== 200 || !body.integrity.ok) return false
      }
      return true
    }
    const restore = async () => {
      const names = Object.keys(tables)
      await db.query(names.map((name) => `delete from ${name}; insert into ${name} table kept_${name};`).join(' '))
    }
    expect(await areValid()).toBe(true)
    let done = 0
    await fc.assert(
      fc.asyncProperty(mutation, async (change) => {
        const names = Object.keys(tables)
        const table = names[change.table % names.length] ?? ''
        const own = columns.filter((column) => column.table === table)
        const changed = await apply(db, table, own, change)
        expect([changed, await areValid()]).toEqual([changed, !changed])
        await restore()
        done += 1
      }),
      { numRuns: mutations, endOnFailure: true },
    )
    await db.end()
    await discard(platform)
    console.log(`${done} changes, 0 undetected, 0 false alarms`)
  })
})

const mutation: fc.Arbitrary<Mutation> = fc.record({
  table: fc.nat(1000),
  column: fc.nat(1000),
  row: fc.nat(1000),
  other: fc.nat(1000),
  at: fc.nat(3000),
  kind: fc.constantFrom('edit', 'edit', 'edit', 'copy', 'empty', 'delete', 'nothing'),
  character: fc.constantFrom('0', 'a', 'Z', ' ', '"', '{', 'é'),
})

/** Changes one row; false when the row is the same afterwards. */
async function apply(db: pg.Client, table: string, columns: readonly Column[], change: Mutation): Promise<boolean> {
  const where = tables[table] ?? 'true'
  const { rows } = await db.query<{ ctid: string }>(`select ctid::text from ${table} where ${where} order by ctid`)
  const row = rows[change.row % rows.length]?.ctid ?? ''
  const other = rows[change.other % rows.length]?.ctid ?? ''
  const { name, type } = columns[change.column % columns.length] as Column
  const all = async () => JSON.stringify((await db.query(`select x::text as row from ${table} x order by 1`)).rows)
  const before = await all()
  const statement =
    change.kind === 'delete'
      ? `delete from ${table} where ctid = '${row}'`
      : `update ${table} set ${name} = ${changedValue(name, type, change, table, other)} where ctid = '${row}'`
  // The database rejects some changes, such as a duplicate key: they have no effect.
  await db.query(statement).catch(() => undefined)
  return (await all()) !== before
}

function changedValue(
  name: string,
  type: string,
  { kind, at, character }: Mutation,
  table: string,
  other: string,
): string {
  if (kind === 'nothing') return name
  if (kind === 'empty') return 'null'
  if (kind === 'copy') return `(select ${name} from ${table} where ctid = '${other}')`
  if (type === 'bigint') return `${name} + ${(at % 7) - 3}`
  if (type === 'boolean') return `not ${name}`
  if (type.startsWith('timestamp')) return `${name} + interval '${(at % 2000) - 1000} milliseconds'`
  return `overlay(${name} placing '${character}' from ${at} % greatest(length(${name}), 1) + 1 for ${at % 2})`
}
