// The recorded runs, where they are available: every task verifies, no step is blocked, a second import adds nothing.
import { describe, expect, it } from 'vitest'
import { sharedPostgres } from '../support/server/postgres.js'
import { sharedData } from '../support/server/shared.js'
import { importRuns } from './runs.js'

const file = sharedData('agent-runs/airline-service.jsonl')
const postgres = await sharedPostgres()

describe
  .skipIf(file === null)
  .each([
    { kind: 'pglite', database: () => ({}) },
    ...(postgres === null
      ? []
      : [{ kind: 'postgresql', database: () => ({ SVC_DATABASE_URL: postgres.freshDatabase() }) }]),
  ])('recorded runs on $kind', ({ database }) => {
  it('are imported completely, verify, and are not blocked', async () => {
    const { first, second, tasks, valid } = await importRuns(file ?? '', database())
    expect(first).toMatchObject({
      runs: 100,
      steps: 3241,
      created: 3241,
      failures: [],
      bad_lines: 0,
      would_block: {},
      would_ask: {},
    })
    // In 100 runs of a customer service, hardly anything is worth a report.
    for (const count of Object.values(first.violations)) expect(count).toBeLessThanOrEqual(15)
    expect({ tasks, valid }).toEqual({ tasks: 100, valid: 100 })
    expect(second).toMatchObject({ created: 0, replayed: 3241 })
  })
})
