// The effect of occurrences from before there were effects: from the recorded step, where the log has it.
import { readConfig } from '@svc/platform'
import type { IncidentList } from '@svc/schemas'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../../platform/db/db.js'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { reportDatabases } from '../../support/report-log.js'

/** The schema before the migration, which runs again at the next start. */
const backwards = /* sql */ `
alter table incident_occurrences drop column effect;
alter table incidents drop column effect, drop column blocked, drop column executed;
create index incidents_written on incidents (org_id, log_index);
delete from incident_counts;
alter table incident_counts drop constraint incident_counts_pkey, drop column effect;
alter table incident_counts add primary key (org_id, policy_id, agent_id, state, severity, mode, scope, rule_type, manifest_id, policy_name);
delete from svc_migrations where name = '0034-effects';`

const steps: readonly (readonly [task_id: string, effect: string, more: object])[] = [
  ['ran', 'executed', { output: { exit_code: 0 } }],
  ['stopped', 'blocked', { output: { status: 'blocked' } }],
  ['says so elsewhere', 'executed', { input: { status: 'blocked' }, output: { status: 'ok' } }],
  ['has a character that JSON of the database lacks', 'unknown', { output: { status: 'blocked', text: 'a\u0000' } }],
  ['has it and ran', 'executed', { output: { text: '\u0000' } }],
]

async function fill({ call }: TestPlatform): Promise<void> {
  await call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })
  const timestamp = '2026-01-05T09:00:00Z'
  for (const [task_id, , more] of steps) {
    const body = { task_id, step: 1, step_type: 'step.exec', timestamp, ...more }
    expect((await call('POST', '/api/v1/logs', { as: 'key', body })).status).toBe(201)
  }
  const [found] = (await call<IncidentList>('GET', '/api/v1/incidents?task_id=ran')).body.incidents
  const line = { policy_id: found?.policy_id, agent_key: 'a', evaluation_id: 'e' }
  const reports = [
    { ...line, task_id: 'reported' },
    { ...line, task_id: 'defied', reason: 'executed_although_blocked' },
  ]
  expect((await call('POST', '/api/v1/incidents', { as: 'key', body: reports })).status).toBe(200)
}

const expected = { ...Object.fromEntries(steps), reported: 'unknown', defied: 'executed' }

async function effectsOf({ call }: TestPlatform) {
  const { incidents } = (await call<IncidentList>('GET', '/api/v1/incidents?limit=200')).body
  for (const { occurrences, effects, effect } of incidents) {
    const other = { blocked: 0, executed: 0, unknown: 0 }
    expect(effects).toEqual({ ...other, [effect]: occurrences })
  }
  return Object.fromEntries(incidents.map(({ task_id, effect }) => [task_id ?? 'registration', effect]))
}

describe.each(await reportDatabases())('on $kind, the effect of earlier occurrences', ({ url }) => {
  it('follows from the recorded step, and the counts of incidents from it', async () => {
    let platform = await startPlatform({ database_url: url() })
    await fill(platform)
    const before = await effectsOf(platform)
    expect(before['has a character that JSON of the database lacks']).toBe('blocked')
    await platform.close()
    const db = await openDatabase(readConfig(platform.env).value)
    await db.knex.raw(backwards)
    await db.close()
    platform = await platform.restart()
    expect(await effectsOf(platform)).toEqual({ ...expected, registration: 'executed' })
    for (const effect of ['blocked', 'executed', 'unknown']) {
      const { total, incidents } = (
        await platform.call<IncidentList>('GET', `/api/v1/incidents?limit=200&effect=${effect}`)
      ).body
      expect([effect, total]).toEqual([effect, incidents.length])
      expect(incidents.every((one) => one.effect === effect)).toBe(true)
    }
    await discard(platform)
  })
})
