// Checkpoints and proofs as an outsider would check them, and what is not signed for.
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  canonical,
  commitment,
  leafHash,
  logIdOf,
  parseCheckpoint,
  parseNote,
  parseVerifier,
  verifyConsistency,
  verifyInclusion,
  verifySignature,
} from '@svc/engine'
import type {
  BatchAnswer,
  ConsistencyProof,
  InclusionProof,
  LeafRecord,
  LogCheckpoint,
  LogDetail,
  Verification,
} from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { discard, startPlatform, type TestPlatform } from '../support/platform.js'
import { startPostgres } from '../support/postgres.js'

const bytes = (hex: string) => Buffer.from(hex, 'hex')
const soon = { timeout: 15_000, interval: 100 }
const fast = { SVC_CHECKPOINT_SECONDS: '1', SVC_LOG_HOST: 'log.example' }

async function logSteps(platform: TestPlatform, task_id: string, count: number) {
  const entries = Array.from({ length: count }, (_, index) => {
    const step_type = index === 0 ? 'START_NODE' : 'step.model'
    return { task_id, step: index + 1, step_type, timestamp: '2026-01-05T09:00:00Z', input: { index } }
  })
  const { status, body } = await platform.call<BatchAnswer>('POST', '/api/v1/logs/batch', {
    as: 'key',
    body: { entries },
  })
  expect(status).toBe(200)
  return body
}

const register = (platform: TestPlatform) =>
  platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'a' } })

/** Leaves of a log before its first step: workspace, key, assignment, agent, and an incident with its event. */
const begun = 6

/** The checkpoint of a log with so many steps. */
async function checkpointOf(platform: TestPlatform, steps: number): Promise<LogCheckpoint> {
  const size = begun + steps
  return vi.waitFor(async () => {
    const { status, body } = await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')
    expect([status, body.size]).toEqual([200, size])
    return body
  }, soon)
}

/** What the note says, once its signature by the key is known to be sound. */
function signed({ note, key }: LogCheckpoint) {
  const [read, verifier] = [parseNote(note), parseVerifier(key)]
  const [signature] = read?.signatures ?? []
  if (read === null || verifier === null || signature === undefined) throw new Error('not a signed note')
  expect(verifySignature(read.text, signature, verifier)).toEqual({ time: null })
  return parseCheckpoint(read.text)
}

const postgres = await startPostgres()
afterAll(() => postgres?.remove())

describe.each(['pglite', 'postgresql'] as const)('the log on %s', (kind) => {
  if (kind === 'postgresql' && postgres === null) return it.skip('has no server here', () => undefined)
  let platform: TestPlatform
  let first: LogCheckpoint
  beforeAll(async () => {
    const database_url = kind === 'postgresql' ? (postgres?.freshDatabase() ?? null) : null
    platform = await startPlatform({ database_url, env: fast })
    await register(platform)
  })
  afterAll(() => discard(platform))

  it('is signed for before anybody has logged a step', async () => {
    const { size } = await checkpointOf(platform, 0)
    expect(size).toBe(begun)
  })

  it('is signed for once it has grown', async () => {
    await logSteps(platform, 'one', 300)
    first = await checkpointOf(platform, 300)
    expect(signed(first)).toEqual({ origin: first.origin, size: begun + 300, root: bytes(first.root) })
    expect(first.origin).toMatch(/^log\.example\/org\/org_[0-9a-f]+\/1$/)
  })

  it('proves each of its entries, and what it was when somebody last looked', async () => {
    await logSteps(platform, 'two', 400)
    const now = await checkpointOf(platform, 700)
    const root = signed(now)?.root ?? Buffer.alloc(0)
    for (const index of [6, 7, 255, 256, 299, 300, 511, 512, 704, 705]) {
      const path = `/api/v1/log/proof/inclusion?log_index=${index}`
      const { body } = await platform.call<InclusionProof>('GET', path, { as: 'key' })
      expect(verifyInclusion(bytes(body.leaf_hash), index, 706, body.proof.map(bytes), root)).toBe(true)
      expect(body.note).toBe(now.note)
    }
    const { body } = await platform.call<ConsistencyProof>('GET', '/api/v1/log/proof/consistency?first=306')
    expect(verifyConsistency(306, 706, body.proof.map(bytes), bytes(first.root), root)).toBe(true)
    const earlier = await platform.call<InclusionProof>('GET', '/api/v1/log/proof/inclusion?log_index=7&size=306')
    expect(earlier.body.root).toBe(first.root)
    const { proof, leaf_hash } = earlier.body
    expect(verifyInclusion(bytes(leaf_hash), 7, 306, proof.map(bytes), bytes(first.root))).toBe(true)
  })

  it('names the checkpoint before an entry in its record', async () => {
    const now = await checkpointOf(platform, 700)
    const [result] = (await logSteps(platform, 'three', 1)).results
    const log_id = (result as { entry?: { log_id: string } }).entry?.log_id ?? ''
    const { body } = await platform.call<LogDetail>('GET', `/api/v1/logs/${log_id}`)
    expect(body.record.after).toEqual({ size: 706, root: now.root })
    await checkpointOf(platform, 701)
    const { status, body: proof } = await platform.call<InclusionProof>(
      'GET',
      `/api/v1/log/proof/inclusion?log_id=${log_id}`,
    )
    expect([status, proof.leaf_hash]).toEqual([200, body.hash])
  })

  it.each([
    ['proof/inclusion', 422],
    ['proof/inclusion?log_index=1&log_id=log_1', 422],
    ['proof/inclusion?log_index=900', 404],
    ['proof/inclusion?log_index=400&size=300', 404],
    ['proof/inclusion?log_index=1&size=900', 422],
    ['proof/inclusion?log_index=-1', 422],
    ['proof/inclusion?log_id=nothing', 404],
    ['proof/consistency', 422],
    ['proof/consistency?first=0', 422],
    ['proof/consistency?first=900', 422],
    ['proof/consistency?first=400&second=300', 422],
  ])('answers %s with %i', async (path, status) => {
    expect((await platform.call('GET', `/api/v1/log/${path}`)).status).toBe(status)
  })

  it('goes on after a restart, with the same key', async () => {
    const before = await checkpointOf(platform, 701)
    platform = await platform.restart()
    await logSteps(platform, 'four', 2)
    const after = await checkpointOf(platform, 703)
    expect(after.key).toBe(before.key)
  })

  it('keeps its key and what it signed from others, outside the database', () => {
    const folder = join(platform.data_dir, 'log')
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes('.json') || name === 'signing-key',
    )
    expect(files).toHaveLength(2)
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o077).toBe(0)
  })
})

describe.skipIf(postgres === null)('a log is not signed for', () => {
  if (postgres === null) return

  /** A log of 300 entries with a checkpoint, then `change`, then ten more entries. */
  async function afterwards(change: (sql: (text: string) => string, platform: TestPlatform) => void | Promise<void>) {
    const url = postgres?.freshDatabase() ?? ''
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 300)
    await checkpointOf(platform, 300)
    await change((text) => postgres?.psql(url, text) ?? '', platform)
    await logSteps(platform, 'two', 10)
    return platform
  }

  const refusal = (platform: TestPlatform) =>
    vi.waitFor(async () => {
      const ready = await platform.call<{ status: string; checkpoints: string }>('GET', '/readyz')
      expect([ready.status, ready.body]).toEqual([200, { status: 'degraded', checkpoints: 'refused' }])
    }, soon)

  const reasons = (url: string) =>
    postgres?.psql(url, `select data->>'reason' from events where kind = 'log.fork_refused'`)

  it.each([
    ['a signed leaf was changed', `update log_leaves set leaf_hash = repeat('0', 64) where log_index = 280`],
    ['a signed leaf is gone', 'delete from log_leaves where log_index = 270'],
    ['a node of the tree was changed', `update log_tiles set hash = repeat('0', 64)`],
    ['the tree was cut', 'delete from log_tiles'],
    ['a checkpoint is said to be another', `update org_log set checkpoint_root = repeat('0', 64)`],
    ['checkpoints are said to be none', `update org_log set checkpoint_size = 0, checkpoint_root = repeat('0', 64)`],
  ])('when %s', async (_, change) => {
    const platform = await afterwards((sql) => void sql(change))
    await refusal(platform)
    expect((await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')).body.size).toBe(306)
    await discard(platform)
  })

  it('when a new entry is not what its hash says, and says so once', async () => {
    const url = postgres.freshDatabase()
    const platform = await startPlatform({ database_url: url, env: { ...fast, SVC_CHECKPOINT_SECONDS: '3600' } })
    await register(platform)
    await logSteps(platform, 'one', 20)
    postgres.psql(url, `update log_entries set record = replace(record, 'step.model', 'step.exec') where log_index = 7`)
    await platform.close()
    const again = await startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
    await refusal(again)
    await vi.waitFor(() => expect(reasons(url)).toBe('the entry of leaf 7 is not what its hash says'), soon)
    await discard(again)
  })

  it('when an older dump was restored under it', async () => {
    const url = postgres.freshDatabase()
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 30)
    await checkpointOf(platform, 30)
    const copied = [
      'log_entries',
      'log_payloads',
      'log_leaves',
      'log_tiles',
      'log_records',
      'checkpoints',
      'org_log',
      'task_heads',
    ]
    for (const table of copied) postgres.psql(url, `create table old_${table} as table ${table}`)
    await logSteps(platform, 'two', 30)
    await checkpointOf(platform, 60)
    const restored = copied.map((table) => `delete from ${table}; insert into ${table} table old_${table};`)
    postgres.psql(url, `begin; ${restored.join(' ')} commit`)
    await logSteps(platform, 'three', 1)
    await refusal(platform)
    expect(reasons(url)).toMatch(/^the log has 37 entries, and 66 were signed for$/m)
    // Grown past what was signed, it is another log all the same.
    await logSteps(platform, 'four', 60)
    await vi.waitFor(() => expect(reasons(url)).toContain('are not those that were signed for'), soon)
    await discard(platform)
  })

  it('when the signer has forgotten what it signed, or its memory is damaged', async () => {
    const url = postgres.freshDatabase()
    const key_dir = mkdtempSync(join(tmpdir(), 'svc-key-'))
    const env = { ...fast, SVC_LOG_KEY_DIR: key_dir }
    let platform = await startPlatform({ database_url: url, env })
    await register(platform)
    await logSteps(platform, 'one', 5)
    const { origin } = await checkpointOf(platform, 5)
    await platform.close()
    rmSync(join(key_dir, 'signed'), { recursive: true })
    platform = await startPlatform({ database_url: url, data_dir: platform.data_dir, env })
    await logSteps(platform, 'two', 1)
    await refusal(platform)
    await discard(platform)
    expect(readFileSync(join(key_dir, 'signing-key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    writeFileSync(join(key_dir, 'signing-key'), 'no key')
    await expect(startPlatform({ database_url: url, env })).rejects.toThrow('is no signing key')
    expect(origin).toContain('log.example')
    rmSync(key_dir, { recursive: true })
  })

  it('by a process with another key', async () => {
    const url = postgres.freshDatabase()
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 5)
    const before = await checkpointOf(platform, 5)
    const other = await startPlatform({
      database_url: url,
      env: { ...fast, SVC_LOG_HOST: 'other.example', SVC_SEED_API_KEY: `SvcKey-${'o'.repeat(43)}` },
    })
    await logSteps(platform, 'two', 5)
    // The other process has admitted two keys of its own.
    const after = await checkpointOf(platform, 10 + 2)
    expect([after.key, after.origin]).toEqual([before.key, before.origin])
    await discard(other)
    await discard(platform)
  })
})

describe.skipIf(postgres === null)('a task that is signed for', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  const sql = (text: string) => postgres.psql(url, text)
  const verify = async (task_id = 'two') =>
    (await platform.call<Verification>('GET', `/api/v1/tasks/${task_id}/verify`)).body

  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 600)
    await checkpointOf(platform, 600)
    await logSteps(platform, 'two', 40)
    await checkpointOf(platform, 640)
    await platform.close()
    platform = await startPlatform({
      ...{ database_url: url, data_dir: platform.data_dir },
      env: { ...fast, SVC_CHECKPOINT_SECONDS: '0' },
    })
  })
  afterAll(() => discard(platform))

  it('says how much of it is', async () => {
    expect(await verify()).toMatchObject({ anchoring: 'whole', integrity: { ok: true } })
    await logSteps(platform, 'three', 3)
    expect(await verify('three')).toMatchObject({ anchoring: 'none', integrity: { ok: true } })
  })

  /** A whole task rewritten by somebody who can hash: chain, leaves and heads fit each other. */
  it('cannot be re-hashed, even whole', async () => {
    const entry = `select record from log_entries where task_id = 'two' and seq = 40`
    const forged = sql(entry).replace('"step_type":"step.model"', '"step_type":"step.exec"')
    const hash = createHash('sha256').update(`\0${forged}`).digest('hex')
    const [log_id, received] = sql(
      `select log_id, (extract(epoch from received_at) * 1000)::bigint from log_entries where task_id = 'two' and seq = 40`,
    ).split('|')
    expect(log_id).toBeDefined()
    sql(`begin; create table kept_e as select * from log_entries; create table kept_l as select * from log_leaves; create table kept_h as select * from task_heads;
      update log_entries set record = '${forged}', hash = '${hash}', step_type = 'step.exec', log_id = '${logIdOf(Number(received), hash)}' where task_id = 'two' and seq = 40;
      update log_leaves set leaf_hash = '${hash}' where log_index = 645;
      update task_heads set hash = '${hash}' where task_id = 'two'; commit`)
    expect((await verify()).integrity.first_bad).toMatchObject({ code: 'root_mismatch' })
    expect((await verify('one')).integrity.ok).toBe(false)
    sql(
      `begin; delete from log_entries; insert into log_entries table kept_e; delete from log_leaves; insert into log_leaves table kept_l; delete from task_heads; insert into task_heads table kept_h; commit`,
    )
    expect((await verify()).integrity.ok).toBe(true)
  })

  it.each([
    ['a tile', `update log_tiles set hash = repeat('0', 64) where index = 1`, 'one', 'root_mismatch'],
    ['the root', `update checkpoints set root = repeat('0', 64) where size = 646`, 'two', 'root_mismatch'],
    ['a checkpoint that records name', 'delete from checkpoints where size = 606', 'two', 'after_mismatch'],
    ['a leaf of another task', `update log_leaves set leaf_hash = repeat('0', 64) where log_index = 5`, 'two', null],
    [
      'a leaf beside it',
      `update log_leaves set leaf_hash = repeat('0', 64) where log_index = 605`,
      'two',
      'root_mismatch',
    ],
  ])('notices a change of %s', async (_, change, task_id, code) => {
    sql(
      `create table kept_t as table log_tiles; create table kept_c as table checkpoints; create table kept_v as table log_leaves; ${change}`,
    )
    expect((await verify(task_id)).integrity.first_bad?.code ?? null).toBe(code)
    sql(`begin; delete from log_tiles; insert into log_tiles table kept_t; delete from checkpoints; insert into checkpoints table kept_c;
      delete from log_leaves; insert into log_leaves table kept_v; drop table kept_t, kept_c, kept_v; commit`)
    expect((await verify(task_id)).integrity.ok).toBe(true)
  })

  it('gives no proof of what was not signed', async () => {
    sql(
      `create table kept_v as table log_leaves; update log_leaves set leaf_hash = repeat('0', 64) where log_index = 630`,
    )
    for (const path of ['inclusion?log_index=630', 'inclusion?log_index=631', 'consistency?first=600'])
      expect((await platform.call('GET', `/api/v1/log/proof/${path}`)).status).toBe(500)
    sql('delete from log_leaves; insert into log_leaves table kept_v')
  })
})

describe.skipIf(postgres === null)('what is no step', () => {
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

  it('stands in the log as commitments that its stored values open', async () => {
    const found = rows()
    expect(found.map(({ type }) => type)).toEqual(['event', 'event', 'event', 'event', 'incident', 'event'])
    for (const { record, salts, body, leaf, type } of found) {
      expect(leafHash(record)).toBe(leaf)
      const { data, ...envelope } = JSON.parse(record) as LeafRecord
      expect(canonical(JSON.parse(record))).toBe(record)
      expect(envelope).toMatchObject({ v: 'svc.log/1', type, subject_id: expect.stringMatching(/^(evt|inc)_/) })
      const [values, keys] = [JSON.parse(body), JSON.parse(salts)]
      expect(canonical(values)).toBe(body)
      for (const [field, committed] of Object.entries(data))
        expect(commitment(field, values[field], Buffer.from(keys[field], 'hex'))).toBe(committed)
      // Nothing of what it says can be read from the record.
      expect(record).not.toContain('desk')
    }
  })

  it('grows with every change of an incident, and is signed for', async () => {
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
    const place = begun + 1
    const as = async (who: 'key' | 'operator') =>
      (await platform.call('GET', `/api/v1/log/proof/inclusion?log_index=${place}`, { as: who })).status
    expect([await as('operator'), await as('key')]).toEqual([200, 404])
  })

  it('is not signed for once it was changed', async () => {
    postgres.psql(url, `update log_records set record = replace(record, '"type":"event"', '"type":"prune"')`)
    await logSteps(platform, 'one', 1)
    // Only what is new is read again: what was signed is held by its hash.
    await checkpointOf(platform, 3)
    await platform.close()
    platform = await startPlatform({
      ...{ database_url: url, data_dir: platform.data_dir },
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
