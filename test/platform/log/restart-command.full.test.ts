// Going on with a log after a restore: what was signed for is compared with what is stored, and a log that was rewritten
// is refused unless a person accepts it, which its verifiers see.
import { afterAll, describe, expect, it } from 'vitest'
import { verdictText } from '../../../proof/verify/text.js'
import { bothOn, downloadBundle, openDesk } from '../../support/bundle.js'
import { dump, restore, rewriteLog } from '../../support/database.js'
import { begun, checkpointOf, logSteps } from '../../support/log.js'
import { discard } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'
import { startProcess } from '../../support/process.js'
import { remove, restarts, type Stopped, stopped as stoppedOn } from '../../support/restart.js'

const postgres = await sharedPostgres()
const desk = openDesk()
afterAll(() => desk.clear())

describe.skipIf(postgres === null)('a log that is to go on after a restore', () => {
  if (postgres === null) return
  const stopped = (counts: readonly number[], between?: (sql: Stopped['sql']) => void) =>
    stoppedOn(postgres, desk, counts, between)

  it('is refused with every record rewritten, and says what was signed for and what is there', async () => {
    const { platform, kept, sql, restart } = await stopped([6])
    rewriteLog(sql, kept.size)
    const { code, stderr } = await restart()
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`${kept.size} entries were signed for, root ${kept.root}`),
    ])
    expect(stderr).toContain('--accept-changed-entries')
    expect(restarts(sql)).toEqual([])
    remove(platform)
  })

  it('is refused with every record of a shorter log rewritten', async () => {
    const { platform, kept, sql, restart } = await stopped([3, 3, 6])
    rewriteLog(sql, kept.size - 4)
    const { code, stderr } = await restart()
    expect([code, stderr]).toEqual([1, expect.stringContaining('entries that were signed for have changed')])
    remove(platform)
  })

  it('goes on when a person accepts what has changed, which its verifiers show', async () => {
    const { kept, sql, restart, again } = await stopped([6])
    rewriteLog(sql, kept.size)
    expect(await restart('--accept-changed-entries')).toMatchObject({ code: 0, stderr: '' })
    expect(restarts(sql)).toMatchObject([
      { old_size: kept.size, old_root: kept.root, size: kept.size, kept_size: begun, accepted_changed_entries: true },
    ])
    const running = await again()
    const now = await checkpointOf(running, Number(sql('select size from org_log')) - begun)
    expect(now.origin).toMatch(/\/2$/)
    const bundle = desk.put('bundle.zip', await downloadBundle(running))
    const verdict = await bothOn(bundle, `log ${now.key}\nlog ${kept.key}\n`, desk)
    expect(verdict.restarts).toMatchObject([{ old_size: kept.size, gone: 0, left: 'changed', kept_size: begun }])
    expect(verdictText(bundle, verdict)).toContain('of the others some have changed; the first 6 were as signed')
    // Without the operator's consent in the leaf it is tampering, and so it is for a person who kept a checkpoint.
    const forged = await bothOn(bundle, `log ${now.key}\nlog ${kept.key}\n`, desk, kept.note)
    expect(forged.findings.map(({ code }) => code)).toEqual(['fork'])
    await discard(running)
  })

  it('goes on from a shorter log that is how the signed one began, and counts what is gone', async () => {
    const { kept, first, sql, restart, again } = await stopped([3, 3, 6], dump)
    restore(sql)
    const { code, stdout } = await restart()
    expect([code, stdout]).toEqual([0, expect.stringContaining('9 entries that were signed for are gone')])
    expect(restarts(sql)).toMatchObject([
      { old_size: kept.size, size: begun + 3, kept_size: begun + 3, accepted_changed_entries: false },
    ])
    const running = await again()
    await logSteps(running, 'after', 2)
    const now = await checkpointOf(running, 3 + 1 + 2)
    const trust = `log ${now.key}\nlog ${first.key}\n`
    for (const query of ['', `?from=${now.published_at}`]) {
      const bundle = desk.put('bundle.zip', await downloadBundle(running, query))
      const verdict = await bothOn(bundle, trust, desk)
      expect(verdict).toMatchObject({ valid: true, restarts: [{ old_size: kept.size, gone: 9, by: 'operator:local' }] })
      expect(verdictText(bundle, verdict)).toContain(
        `9 of the ${kept.size} entries that were signed for before are gone`,
      )
    }
    const whole = desk.put('bundle.zip', await downloadBundle(running))
    expect(await bothOn(whole, trust, desk, first.note)).toMatchObject({ valid: true, since: begun + 3 })
    const { findings } = await bothOn(whole, trust, desk, kept.note)
    expect(findings).toMatchObject([{ code: 'entries_gone', message: expect.stringContaining('9 of them are gone') }])
    await discard(running)
  })
})

describe.skipIf(postgres === null)('a platform over a backup that was restored', () => {
  if (postgres === null) return
  const stopped = (counts: readonly number[], between?: (sql: Stopped['sql']) => void) =>
    stoppedOn(postgres, desk, counts, between)
  it.each([
    ['shorter than what was signed for', restore, /is shorter than the \d+ entries/],
    [
      'another than what was signed for',
      (sql: Stopped['sql']) => rewriteLog(sql, begun + 9),
      /are not those that were signed/,
    ],
  ])('says at its start that the log is %s, and what to run', async (_, change, reason) => {
    const { url, platform, sql } = await stopped([3, 6], dump)
    change(sql)
    const env = {
      SVC_DATABASE_URL: url,
      SVC_DATA_DIR: platform.data_dir,
      SVC_PORT: '0',
      SVC_CHECKPOINT_SECONDS: '3600',
    }
    const started = await startProcess(env)
    const line = started.printed.split('\n').find((one) => one.includes('checkpoints are refused')) ?? '{}'
    const { msg = '', org_id } = JSON.parse(line) as { msg?: string; org_id?: string }
    expect(msg).toMatch(reason)
    const command = `npx --no-install svc-platform new-epoch --org ${org_id} --reason 'restored a backup'`
    expect(msg.endsWith(`run: ${command}`)).toBe(true)
    await started.terminate()
    remove(platform)
  })
})
