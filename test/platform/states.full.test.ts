// Every transition of every state table, on both databases: test/cases/states.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openStateSite, type StateSite } from '../support/http/state-site.js'
import { subjects } from '../support/http/state-subjects.js'
import { allowedOf, cellsOf, checkMove, checkRace, stateTables } from '../support/http/states.js'
import { sharedPostgres } from '../support/server/postgres.js'

const tables = stateTables()
const hasServer = (await sharedPostgres()) !== null
/** The embedded database has one connection: more callers wait longer for it, and nothing else. */
const raced = { pglite: [2], postgresql: [8] } as const
/** The tables that are checked on the embedded database as well: those whose rows it locks in different ways. SVC_ALL_STATES=1: all. */
const embedded = ['action', 'incident', 'policy', 'stop']
const tablesOn = {
  pglite: tables.filter(({ name }) => process.env.SVC_ALL_STATES === '1' || !hasServer || embedded.includes(name)),
  postgresql: tables,
}
const databases = [
  ['pglite', async () => null],
  ['postgresql', async () => (await sharedPostgres())?.freshDatabase() ?? null],
] as const

it('every state table has a subject, and every subject a table', () => {
  expect(Object.keys(subjects).sort()).toEqual(tables.map(({ name }) => name).sort())
})

describe.each(databases)('on %s', (kind, fresh) => {
  describe.skipIf(kind === 'postgresql' && !hasServer)('the states of', () => {
    let site: StateSite
    beforeAll(async () => {
      site = await openStateSite(await fresh())
    })
    afterAll(() => site.close())

    describe.each(tablesOn[kind])('$name', (table) => {
      const make = () => (subjects[table.name] as (typeof subjects)[string])(site)
      it.each(cellsOf(table))('$state: $operation', async (cell) => checkMove(table, await make(), cell))
      it.each(allowedOf(table))('$state: $operation, by callers at once', async (cell) => {
        for (const callers of raced[kind]) await checkRace(table, await make(), cell, callers)
      })
    })
  })
})
