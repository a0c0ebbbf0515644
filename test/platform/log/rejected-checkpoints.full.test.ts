// Logs for which the platform rejects checkpoints.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogCheckpoint, Verification } from '@svc/schemas'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { verdictText } from '../../../proof/verify/text.js'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { dump, restore } from '../../support/server/database.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'
import { soon } from '../../support/server/soon.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

describe.skipIf(postgres === null)('checkpoints are rejected', () => {
  if (postgres === null) return

  /** A log of 300 signed steps, then `change`, then ten more steps. */
  async function logWith(change: (sql: (text: string) => string, platform: TestPlatform) => void | Promise<void>) {
    const url = postgres?.freshDatabase() ?? ''
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 300)
    await checkpointOf(platform, 300)
    await change((text) => postgres?.psql(url, text) ?? '', platform)
    await logSteps(platform, 'two', 10)
    return platform
  }

  const rejection = (platform: TestPlatform) =>
    vi.waitFor(async () => {
      const ready = await platform.call<{ status: string; checkpoints: string }>('GET', '/readyz')
      expect([ready.status, ready.body]).toMatchObject([200, { status: 'degraded', checkpoints: 'refused' }])
    }, soon)

  const reasons = (url: string) =>
    postgres?.psql(url, `select data->>'reason' from events where kind = 'log.fork_refused'`)

  it.each([
    ['a signed leaf is altered', `update log_leaves set leaf_hash = repeat('0', 64) where log_index = 280`],
    ['a signed leaf is missing', 'delete from log_leaves where log_index = 270'],
    ['a node of the tree is altered', `update log_tiles set hash = repeat('0', 64)`],
    ['the nodes of the tree are missing', 'delete from log_tiles'],
    ['the database claims another checkpoint', `update org_log set checkpoint_root = repeat('0', 64)`],
    [
      'the database claims an empty checkpoint',
      `update org_log set checkpoint_size = 0, checkpoint_root = repeat('0', 64)`,
    ],
  ])('when %s', async (_, change) => {
    const platform = await logWith((sql) => void sql(change))
    await rejection(platform)
    expect((await platform.call<LogCheckpoint>('GET', '/api/v1/log/checkpoint')).body.size).toBe(begun + 300)
    await discard(platform)
  })

  it('when a new record does not match its hash, with one event', async () => {
    const url = postgres.freshDatabase()
    const platform = await startPlatform({ database_url: url, env: { ...fast, SVC_CHECKPOINT_SECONDS: '3600' } })
    await register(platform)
    await logSteps(platform, 'one', 20)
    postgres.psql(
      url,
      `update log_entries set record = replace(record, 'step.model', 'step.exec') where log_index = ${begun + 1}`,
    )
    await platform.close()
    const again = await startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
    await rejection(again)
    await vi.waitFor(() => expect(reasons(url)).toBe(`the record of leaf ${begun + 1} does not match its hash`), soon)
    await discard(again)
  })

  it('when a backup was restored, until the operator begins an epoch', async () => {
    const url = postgres.freshDatabase()
    const platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 30)
    await checkpointOf(platform, 30)
    const sql = (text: string) => postgres.psql(url, text)
    dump(sql)
    const key_dir = mkdtempSync(join(tmpdir(), 'svc-key-'))
    cpSync(join(platform.data_dir, 'log'), key_dir, { recursive: true })
    await logSteps(platform, 'two', 30)
    await checkpointOf(platform, 60)
    restore(sql)
    await logSteps(platform, 'three', 1)
    await vi.waitFor(async () => {
      const ready = await platform.call('GET', '/readyz')
      expect([ready.status, ready.body]).toMatchObject([503, { not_ready: ['log'], checkpoints: 'refused' }])
    }, soon)
    const late = await platform.call('POST', '/api/v1/agents', { as: 'key', body: { agent_key: 'late' } })
    expect([late.status, late.body.detail]).toEqual([503, expect.stringContaining(`${begun + 60} signed entries`)])
    expect(reasons(url)).toBe('')
    await platform.close()
    // A restored log that grew beyond the signed size, because the folder of the key was restored too, is still another log.
    restore(sql)
    const { data_dir } = platform
    const other = await startPlatform({ database_url: url, data_dir, env: { ...fast, SVC_LOG_KEY_DIR: key_dir } })
    await logSteps(other, 'three', 1)
    await logSteps(other, 'four', 60)
    await other.close()
    rmSync(key_dir, { recursive: true })
    const grown = await startPlatform({ database_url: url, data_dir, env: fast })
    await rejection(grown)
    await logSteps(grown, 'five', 1)
    await vi.waitFor(() => expect(reasons(url)).toContain('are not the signed ones'), soon)
    await grown.close()
    // One event per reason, although the event itself makes the log grow.
    const recorded = reasons(url)?.split('\n') ?? []
    expect(new Set(recorded).size).toBe(recorded.length)

    const restart = (...more: string[]) =>
      runPlatform(['new-epoch', '--reason', 'the disk failed', ...more], {
        SVC_DATABASE_URL: url,
        SVC_DATA_DIR: platform.data_dir,
      })
    expect((await restart('--org', 'org_0')).code).toBe(1)
    const rejected = await restart()
    expect([rejected.code, rejected.stderr]).toEqual([1, expect.stringContaining(`${begun + 60} entries were signed`)])
    const { code, stdout } = await restart('--accept-changed-entries')
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(new RegExp(`org_[0-9a-f]+/2: continues from \\d+ entries; ${begun + 60} were`)),
    ])
    const again = await startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
    const size = Number(sql('select size from org_log'))
    const second = await checkpointOf(again, size - begun)
    expect(second.origin).toMatch(/\/2$/)
    // A verifier that trusts the new origin only learns that the signatures of the old one are not verified.
    const bundle = auditor.put('bundle.zip', await downloadBundle(again))
    const first = second.origin.replace(/2$/, '1')
    const verdict = await verifyWithBoth(bundle, `log ${second.key}\n`, auditor)
    expect(verdict).toMatchObject({ valid: true, unsigned_logs: [first] })
    expect(verdictText(bundle, verdict)).toContain(`has no key of ${first}`)
    const restarted = sql(`select data->>'reason', data->>'old_size' from events where kind = 'log.restarted'`)
    expect(restarted).toBe(`the disk failed|${begun + 60}`)
    for (const task of ['one', 'three', 'four']) {
      const { body } = await again.call<Verification>('GET', `/api/v1/tasks/${task}/verify`)
      expect(body.integrity).toEqual({ ok: true, first_bad: null })
    }
    await discard(again)
  })

  it('when only the database names another epoch', async () => {
    const platform = await logWith((sql) => void sql('update org_log set epoch = 2'))
    await rejection(platform)
    await discard(platform)
  })

  it('when the signed state is missing or damaged', async () => {
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
    await rejection(platform)
    await discard(platform)
    expect(readFileSync(join(key_dir, 'signing-key'), 'utf8')).toMatch(/^[0-9a-f]{64}\n$/)
    writeFileSync(join(key_dir, 'signing-key'), 'no key')
    await expect(startPlatform({ database_url: url, env })).rejects.toThrow('is not a signing key')
    expect(origin).toContain('log.example')
    rmSync(key_dir, { recursive: true })
  })
})

describe.skipIf(postgres === null)('checkpoints', () => {
  if (postgres === null) return
  it('are not published by a process with another key', async () => {
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
    // The other process has added its API key.
    const after = await checkpointOf(platform, 10 + 1)
    expect([after.key, after.origin]).toEqual([before.key, before.origin])
    await discard(other)
    await discard(platform)
  })
})
