// Events and incidents as leaves of the log.
import { canonical, commitment, leafHash } from '@svc/proof'
import type { LeafRecord } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('leaves that are not steps', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  const rows = () => {
    const text = postgres.psql(
      url,
      `select json_agg(json_build_object('record', r.record, 'salts', r.salts, 'body', r.body, 'leaf', l.leaf_hash, 'type', l.type) order by r.log_index)
       from log_records r join log_leaves l using (org_id, log_index)`,
    )
    return JSON.parse(text) as { record: string; salts: string; body: string; leaf: string; type: string }[]
  }
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
  })
  afterAll(() => discard(platform))

  it('hold commitments that the stored values open', async () => {
    const found = rows()
    expect(found.map(({ type }) => type)).toEqual(['event', 'event', 'event', 'event', 'event', 'incident', 'event'])
    for (const { record, salts, body, leaf, type } of found) {
      expect(leafHash(record)).toBe(leaf)
      const { data, ...envelope } = JSON.parse(record) as LeafRecord
      expect(canonical(JSON.parse(record))).toBe(record)
      expect(envelope).toMatchObject({ v: 'svc.log/1', type, subject_id: expect.stringMatching(/^(evt|inc)_/) })
      const [values, keys] = [JSON.parse(body), JSON.parse(salts)]
      expect(canonical(values)).toBe(body)
      for (const [field, committed] of Object.entries(data))
        expect(commitment(field, values[field], Buffer.from(keys[field], 'hex'))).toBe(committed)
      // The record does not reveal the values.
      expect(record).not.toContain('desk')
    }
  })

  it('record every change of an incident and are signed', async () => {
    const before = rows().length
    const { body } = await platform.call<{ incidents: { id: string }[] }>('GET', '/api/v1/incidents')
    const [incident] = body.incidents
    expect(
      (await platform.call('POST', `/api/v1/incidents/${incident?.id}/review`, { body: { note: 'seen' } })).status,
    ).toBe(200)
    const added = rows().slice(before)
    expect(added.map(({ type }) => type)).toEqual(['incident', 'event'])
    expect(JSON.parse(added[0]?.body ?? '')).toMatchObject({ incident: { state: 'active', note: 'seen' } })
    await checkpointOf(platform, 2)
    const index = begun + 1
    const as = async (who: 'key' | 'operator') =>
      (await platform.call('GET', `/api/v1/log/proof/inclusion?log_index=${index}`, { as: who })).status
    expect([await as('operator'), await as('key')]).toEqual([200, 404])
  })

  it('are not signed after a change of their records', async () => {
    postgres.psql(url, `update log_records set record = replace(record, '"type":"event"', '"type":"prune"')`)
    await logSteps(platform, 'one', 1)
    // Only new records are read again: the signed tree commits to the earlier ones.
    await checkpointOf(platform, 3)
    await platform.close()
    platform = await startPlatform({
      database_url: url,
      data_dir: platform.data_dir,
      env: { ...fast, SVC_CHECKPOINT_SECONDS: '3600' },
    })
    const { body } = await platform.call<{ incidents: { id: string }[] }>('GET', '/api/v1/incidents')
    await platform.call('POST', `/api/v1/incidents/${body.incidents[0]?.id}/resolve`, { body: { note: 'done' } })
    postgres.psql(
      url,
      `update log_records set record = replace(record, '"type":"event"', '"type":"prune"') where log_index > 8`,
    )
    await platform.close()
    platform = await startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
    await vi.waitFor(async () => {
      expect((await platform.call<{ checkpoints: string }>('GET', '/readyz')).body.checkpoints).toBe('refused')
    }, soon)
  })
})
