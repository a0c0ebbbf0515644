// Rows of an earlier version are returned with the current names of their members.
import type { IncidentList, LogDetail, LoggedStep, LogList } from '@svc/schemas'
import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'

const postgres = await sharedPostgres()

const sent = { agent_key: 'a', task_id: 't', step: 1, step_type: 'step.exec', timestamp: '2026-01-05T09:00:00Z' }

describe.skipIf(postgres === null)('violations of an earlier version', () => {
  let platform: TestPlatform
  beforeAll(async () => {
    const database_url = postgres?.freshDatabase() ?? ''
    platform = await startPlatform({ database_url })
    await platform.call('POST', '/api/v1/agents', {
      as: 'key',
      body: { agent_key: 'a', risk_classification: 'limited' },
    })
    const { status } = await platform.call('POST', '/api/v1/logs', { as: 'key', body: sent })
    expect(status).toBe(201)
    const client = new Client({ connectionString: database_url })
    await client.connect()
    for (const [table, column] of [
      ['log_violations', 'details'],
      ['incidents', 'violation_details'],
    ])
      await client.query(
        `update ${table} set ${column} = replace(${column}::text, '"reason":', '"message":')::json where ${column}::text like '%GATE_MISSING%'`,
      )
    await client.end()
  })
  afterAll(async () => {
    if (platform !== undefined) await discard(platform)
  })

  it('are returned with their message as `reason`', async () => {
    const details = { code: 'GATE_MISSING', reason: expect.any(String), rule_type: 'step_requires_gate' }
    const { body: log } = await platform.call<LogList>('GET', '/api/v1/logs?task_id=t')
    const { body: entry } = await platform.call<LogDetail>('GET', `/api/v1/logs/${log.logs[0]?.log_id}`)
    expect(entry.violations.map(({ violation_details }) => violation_details)).toContainEqual(
      expect.objectContaining(details),
    )
    const again = await platform.call<LoggedStep>('POST', '/api/v1/logs', { as: 'key', body: sent })
    expect(again.status).toBe(200)
    expect(again.body.violations.map(({ violation_details }) => violation_details)).toContainEqual(
      expect.objectContaining(details),
    )
    const { body: list } = await platform.call<IncidentList>('GET', '/api/v1/incidents?task_id=t')
    const own = list.incidents.filter(({ violation_details }) => violation_details.code === 'GATE_MISSING')
    expect(own).toMatchObject([{ violation_details: details }])
    expect(own[0]?.violation_details).not.toHaveProperty('message')
    const moved = await platform.call('POST', `/api/v1/incidents/${own[0]?.id}/review`, { body: {} })
    expect(moved.body).toMatchObject({ violation_details: details })
  })
})
