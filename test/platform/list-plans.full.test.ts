// No page of a list reads a large table from end to end: every filter by what the planner says of it, as the role that serves
// requests, on either database.
import { describe, expect, it } from 'vitest'
import { migrate } from '../../platform/migrations/index.js'
import { openDatabase, type Transaction, withSnapshot, withUnscopedTransaction } from '../../platform/store/db.js'
import { filters, org_id, scope } from '../support/list-cases.js'
import { entriesOf, organizationOf } from '../support/list-fill.js'
import { forEachDatabase } from '../support/postgres.js'

const fill = `${organizationOf(org_id)}${entriesOf(org_id, 50_000, 10)}`

interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly Plans?: readonly Plan[]
}

function scans(plan: Plan): string[] {
  const own = plan['Node Type'] === 'Seq Scan' ? [plan['Relation Name'] ?? ''] : []
  return [...own, ...(plan.Plans ?? []).flatMap(scans)]
}

/** Tables that hold a few rows here, or are empty. */
const isSmall = (table: string) => /^(agents|org_log|task_counts)$|_(?!20260[12])\d{6}$/.test(table)

/** The same transaction, which also writes down what each statement reads from end to end. */
function explaining(tx: Transaction, found: string[]): Transaction {
  const explain = async (text: string, values?: readonly unknown[]) => {
    const [row] = await tx.query<{ 'QUERY PLAN': readonly { Plan: Plan }[] }>(`explain (format json) ${text}`, values)
    found.push(...(row?.['QUERY PLAN'] ?? []).flatMap(({ Plan }) => scans(Plan)).filter((table) => !isSmall(table)))
  }
  return {
    query: async (text, values) => {
      if (!text.startsWith('set local')) await explain(text, values)
      return tx.query(text, values)
    },
  }
}

await forEachDatabase('lists', ({ fresh }) => {
  describe.each(['without statistics', 'with statistics'])('%s', (statistics) => {
    it('read no large table from end to end, whatever the filter', async () => {
      const db = await openDatabase(fresh())
      try {
        await migrate(db)
        await withUnscopedTransaction(db, (tx) => tx.query(fill))
        if (statistics === 'with statistics') await db.knex.raw('vacuum analyze')
        const read: [string, string, string[]][] = []
        for (const [name, cases] of Object.entries(filters))
          for (const [filter, run] of cases) {
            const found: string[] = []
            await withSnapshot(db, scope, (tx) => run(explaining(tx, found)))
            if (found.length > 0) read.push([name, filter, [...new Set(found)]])
          }
        expect(read).toEqual([])
      } finally {
        await db.close()
      }
    })
  })

  it('count tasks exactly, in whatever order they change', async () => {
    const db = await openDatabase(fresh())
    try {
      await migrate(db)
      await withUnscopedTransaction(db, (tx) => tx.query(fill))
      for (const sql of [
        'update task_heads set has_end = true where last_log_index % 70 = 9',
        "update task_heads set has_error = not has_error, agent_id = 'ag_1' where last_log_index % 110 = 9",
        'delete from task_heads where last_log_index % 130 = 9',
      ])
        await withUnscopedTransaction(db, (tx) => tx.query(sql))
      const [row] = await withUnscopedTransaction(db, (tx) =>
        tx.query<{ wrong: number }>(
          `with counted as (select agent_id, count(*) filter (where not has_end and not has_error) as running,
             count(*) filter (where has_end and not has_error) as completed, count(*) filter (where has_error) as failed
             from task_heads group by 1)
           select count(*)::int as wrong from counted full join task_counts c using (agent_id)
           where (counted.running, counted.completed, counted.failed) is distinct from (c.running, c.completed, c.failed)`,
        ),
      )
      expect(row?.wrong).toBe(0)
    } finally {
      await db.close()
    }
  })
})
