// The governance of many agents on the embedded database: pages, and lists that stay short.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '@svc/platform'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readGovernance } from '../../../platform/agents/read-governance.js'
import { withSnapshot, withTransaction } from '../../../platform/db/db.js'
import { type GovernedWorkspace, openGovernedWorkspace } from '../../support/reports/governance.js'

const agents = 200
const begin = Date.UTC(2026, 0, 1)
const minutes = (count: number) => new Date(begin + count * 60_000).toISOString()

/** An interval a minute for each agent in turn; every seventh is ungoverned. */
const fill = `insert into engine_intervals (org_id, agent_id, log_index, instance_id, since, load_state, policy_count, version,
    seen_from, last_seen_at)
  select $1, ($2::text[])[1 + n % $4::int], $5::int + n, 'one', t,
    case n / $4 % 7 when 0 then 'unavailable' else 'enforcing' end, 15, '1.0.0', t, t + interval '1 min'
  from (select n, timestamptz '2026-01-01 00:00:00Z' + n / $4::int * interval '1 min' as t
        from generate_series(0, $3::int - 1) n) s`

describe('the governance of many agents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-governance-'))
  let workspace: GovernedWorkspace
  const ids: string[] = []
  beforeAll(async () => {
    workspace = await openGovernedWorkspace(readConfig({ SVC_DATA_DIR: folder }).value, begin)
    for (let index = 0; index <= agents; index += 1) ids.push(await workspace.register(`agent ${index}`))
    const { db, scope } = workspace
    await withTransaction(db, scope, async (tx) => {
      await tx.query(fill, [scope.org_id, ids.slice(1), 10 * agents, agents, 100_000])
      await tx.query(fill, [scope.org_id, ids.slice(0, 1), 20_000, 1, 200_000])
    })
  })
  afterAll(async () => {
    await workspace.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('is read in pages of at most 500 rows, and complete', async () => {
    const { db, scope } = workspace
    const pages: number[] = []
    const read = () =>
      withSnapshot(db, scope, (tx) => {
        const query: typeof tx.query = async <Row>(text: string, values?: readonly unknown[]) => {
          const rows = await tx.query<Row>(text, values)
          pages.push(rows.length)
          return rows
        }
        const cut_off = { size: 1_000_000, at: minutes(20_000) }
        const period = { from: minutes(0), to: minutes(20_000), cut_off }
        return readGovernance(scope, { ...tx, query }, { agent_ids: ids, ...period })
      })
    const found = await read()
    expect(found.size).toBe(agents + 1)
    expect(Math.max(...pages)).toBeLessThanOrEqual(500)
    expect(found.get(ids[1] ?? '')).toMatchObject({ governed_seconds: 480, ungoverned_seconds: 120, more: 0 })
    const flapping = found.get(ids[0] ?? '')
    expect(flapping?.intervals).toHaveLength(200)
    expect(flapping).toMatchObject({ ungoverned_seconds: 2858 * 60, governed_seconds: 17_142 * 60, more: 2658 })
  })
})
