// Key rotation: both keys sign for some days, the log names the new one, and old trust policies work during that time.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyLines, parseNote } from '@svc/proof'
import type { LogCheckpoint } from '@svc/schemas'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { downloadBundle, openAuditorFolder, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, fast, logSteps, register } from '../../support/log/log.js'
import { discard, startPlatform, type TestPlatform } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'

const postgres = await sharedPostgres()
const auditor = openAuditorFolder()
afterAll(() => auditor.clear())

describe.skipIf(postgres === null)('a new signing key', () => {
  if (postgres === null) return
  const url = postgres.freshDatabase()
  let platform: TestPlatform
  let old: LogCheckpoint
  const rotate = (...more: string[]) =>
    runPlatform(['rotate-key', '--reason', 'yearly', ...more], {
      SVC_DATABASE_URL: url,
      SVC_DATA_DIR: platform.data_dir,
    })
  const signed = async () => checkpointOf(platform, Number(postgres.psql(url, 'select size from org_log')) - begun)
  const bundle = async () => auditor.put('bundle.zip', await downloadBundle(platform))
  beforeAll(async () => {
    platform = await startPlatform({ database_url: url, env: fast })
    await register(platform)
    await logSteps(platform, 'one', 3)
    old = await checkpointOf(platform, 3)
  })
  afterAll(() => discard(platform))

  it('signs beside the old key from the next checkpoint on, without a restart', async () => {
    const { code, stdout, stderr } = await rotate()
    expect([code, stderr]).toEqual([0, ''])
    const now = await signed()
    for (const key of [old.key, now.key]) expect(stdout).toContain(`\nlog ${key}\n`)
    // The printed lines and the served keys are complete trust policies: they accept signatures of either key.
    expect((await verifyWithBoth(await bundle(), stdout, auditor, old.note)).valid).toBe(true)
    expect(now.keys.map(({ key, stolen }) => [key, stolen])).toEqual([
      [now.key, false],
      [old.key, false],
    ])
    expect([now.keys[0]?.until, now.keys[1]?.from]).toEqual([null, null])
    expect(now.keys[0]?.from).toMatch(/Z$/)
    expect((await verifyWithBoth(await bundle(), keyLines(now.keys).join('\n'), auditor, old.note)).valid).toBe(true)
    expect(now.key).not.toBe(old.key)
    expect(parseNote(now.note)?.signatures).toHaveLength(2)
    for (const key of [old.key, now.key]) {
      const verdict = await verifyWithBoth(await bundle(), `log ${key}\n`, auditor, old.note)
      const codes = verdict.findings.map((finding) => finding.code)
      // A policy with the new key alone accepts neither the earlier checkpoint nor the one that records name.
      if (key === old.key) expect(codes).toEqual([])
      else expect(codes).toEqual(expect.arrayContaining(['checkpoint_unsigned', 'since_untrusted']))
      expect(verdict.new_keys).toEqual([now.key])
    }
    expect((await verifyWithBoth(await bundle(), `log ${old.key}\nlog ${now.key}\n`, auditor, old.note)).valid).toBe(
      true,
    )
  })

  it('signs after a restart, until the next rotation', async () => {
    const before = await signed()
    platform = await platform.restart()
    expect((await rotate('--days', '0')).code).toBe(0)
    const now = await signed()
    // The first old key still signs, the second was stolen.
    const trusted = async (key: string) => (await verifyWithBoth(await bundle(), `log ${key}\n`, auditor)).log !== null
    expect(await trusted(now.key)).toBe(true)
    expect(await trusted(old.key)).toBe(true)
    expect(await trusted(before.key)).toBe(false)
    const lines = keyLines(now.keys)
    expect(lines).toContain(`past ${before.key}`)
    expect(lines.find((line) => line.includes('STOLEN'))).toContain(now.keys[1]?.fingerprint)
    // A `past` key is accepted for earlier checkpoints, but not for a bundle.
    expect((await verifyWithBoth(await bundle(), lines.join('\n'), auditor, before.note)).valid).toBe(true)
    expect(await trusted(`${before.key}\npast ${now.key}`)).toBe(false)
  })

  it('replaces the old key at the end of its period', async () => {
    const path = join(platform.data_dir, 'log', 'retiring-keys.json')
    const keys = JSON.parse(readFileSync(path, 'utf8')) as { seed: string; until: number }[]
    writeFileSync(path, JSON.stringify(keys.map((key) => ({ ...key, until: 1 }))))
    await logSteps(platform, 'two', 2)
    const now = await signed()
    expect(parseNote(now.note)?.signatures).toHaveLength(1)
    expect((await verifyWithBoth(await bundle(), `log ${old.key}\n`, auditor)).findings).toMatchObject([
      { code: 'untrusted' },
    ])
  })

  it('is not created by a process without the signing key', async () => {
    const { code, stderr } = await runPlatform(['rotate-key', '--reason', 'x'], {
      SVC_DATABASE_URL: url,
      SVC_DATA_DIR: auditor.folder,
    })
    expect([code, stderr]).toEqual([1, expect.stringContaining('does not sign this log')])
    expect((await rotate('--days', 'many')).code).toBe(2)
    expect((await rotate('--reason', ' ')).code).toBe(2)
  })
})
