// What is not signed for.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LogCheckpoint, Verification } from '@svc/schemas'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { verdictText } from '../../../proof/verify/text.js'
import { bothOn, downloadBundle, openDesk } from '../../support/bundle.js'
import { begun, checkpointOf, fast, logSteps, register, soon } from '../../support/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'
import { runPlatform } from '../../support/process.js'

const postgres = await sharedPostgres()
const desk = openDesk()
afterAll(() => desk.clear())

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
    await vi.waitFor(
      () => expect(reasons(url)).toMatch(/^the log is shorter than the 66 entries that were signed for$/m),
      soon,
    )
    // Grown past what was signed, it is another log all the same.
    await logSteps(platform, 'four', 60)
    await vi.waitFor(() => expect(reasons(url)).toContain('are not those that were signed for'), soon)
    await platform.close()
    // Once for each reason, though the event itself makes the log grow.
    const told_before = reasons(url)?.split('\n') ?? []
    expect(new Set(told_before).size).toBe(told_before.length)

    // An operator knows why, and says so: the log goes on under another name, from what the backup had.
    const restart = (...more: string[]) =>
      runPlatform(['new-epoch', '--reason', 'the disk failed', ...more], {
        ...{ SVC_DATABASE_URL: url, SVC_DATA_DIR: platform.data_dir },
      })
    expect((await restart('--org', 'org_0')).code).toBe(1)
    const refused = await restart()
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('66 entries were signed for')])
    const { code, stdout } = await restart('--accept-changed-entries')
    expect([code, stdout]).toEqual([0, expect.stringMatching(/org_[0-9a-f]+\/2: goes on from \d+ entries; 66 were/)])
    const again = await startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
    const size = Number(postgres.psql(url, 'select size from org_log'))
    const second = await checkpointOf(again, size - begun)
    expect(second.origin).toMatch(/\/2$/)
    // Whoever trusts the new name alone is told that the old one's signatures are not checked.
    const bundle = desk.put('bundle.zip', await downloadBundle(again))
    const first = second.origin.replace(/2$/, '1')
    const verdict = await bothOn(bundle, `log ${second.key}\n`, desk)
    expect(verdict).toMatchObject({ valid: true, unsigned_logs: [first] })
    expect(verdictText(bundle, verdict)).toContain(`has no key of ${first}`)
    const told = postgres.psql(
      url,
      `select data->>'reason', data->>'old_size' from events where kind = 'log.restarted'`,
    )
    expect(told).toBe('the disk failed|66')
    for (const task of ['one', 'three', 'four']) {
      const { body } = await again.call<Verification>('GET', `/api/v1/tasks/${task}/verify`)
      expect(body.integrity).toEqual({ ok: true, first_bad: null })
    }
    await discard(again)
  })

  it('when somebody has begun another log in the database alone', async () => {
    const platform = await afterwards((sql) => void sql('update org_log set incarnation = 2'))
    await refusal(platform)
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
    // The other process has admitted the key that it was given.
    const after = await checkpointOf(platform, 10 + 1)
    expect([after.key, after.origin]).toEqual([before.key, before.origin])
    await discard(other)
    await discard(platform)
  })
})
