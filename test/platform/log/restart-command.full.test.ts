// `svc-platform new-epoch` after a restore: a rewritten log is rejected unless the operator accepts it, which its verifiers report.
import { describe, expect, it } from 'vitest'
import { verdictText } from '../../../proof/verify/text.js'
import { downloadBundle, verifyWithBoth } from '../../support/log/bundle.js'
import { begun, checkpointOf, logSteps } from '../../support/log/log.js'
import { dump, restore, rewriteLog, type Sql } from '../../support/server/database.js'
import { discard } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { startProcess } from '../../support/server/process.js'
import { remove, restarts, stoppedLogs } from '../../support/server/restart.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('a new epoch of a restored log', () => {
  if (postgres === null) return
  const { auditor, stopped } = stoppedLogs(postgres)

  it('is rejected when every record was rewritten, with the signed size and root', async () => {
    const { platform, kept, sql, restart } = await stopped([6])
    rewriteLog(sql, kept.size)
    const { code, stderr } = await restart()
    expect([code, stderr]).toEqual([1, expect.stringContaining(`${kept.size} entries were signed, root ${kept.root}`)])
    expect(stderr).toContain('--accept-changed-entries')
    expect(restarts(sql)).toEqual([])
    remove(platform)
  })

  it('is rejected when every record of a shorter log was rewritten', async () => {
    const { platform, kept, sql, restart } = await stopped([3, 3, 6])
    rewriteLog(sql, kept.size - 4)
    const { code, stderr } = await restart()
    expect([code, stderr]).toEqual([1, expect.stringContaining('signed entries have changed')])
    remove(platform)
  })

  it('begins when the operator accepts changed entries, which its verifiers report', async () => {
    const { kept, sql, restart, again } = await stopped([6])
    rewriteLog(sql, kept.size)
    expect(await restart('--accept-changed-entries')).toMatchObject({ code: 0, stderr: '' })
    expect(restarts(sql)).toMatchObject([
      { old_size: kept.size, old_root: kept.root, size: kept.size, kept_size: begun, accepted_changed_entries: true },
    ])
    const running = await again()
    const now = await checkpointOf(running, Number(sql('select size from org_log')) - begun)
    expect(now.origin).toMatch(/\/2$/)
    const bundle = auditor.put('bundle.zip', await downloadBundle(running))
    const verdict = await verifyWithBoth(bundle, `log ${now.key}\nlog ${kept.key}\n`, auditor)
    expect(verdict.restarts).toMatchObject([{ old_size: kept.size, gone: 0, left: 'changed', kept_size: begun }])
    expect(verdictText(bundle, verdict)).toContain(
      `some of the others have changed; the first ${begun} were as signed at the restart`,
    )
    // A verifier with a checkpoint from before still finds a fork.
    const forged = await verifyWithBoth(bundle, `log ${now.key}\nlog ${kept.key}\n`, auditor, kept.note)
    expect(forged.findings.map(({ code }) => code)).toEqual(['fork'])
    await discard(running)
  })

  it('continues a shorter log with unchanged entries and counts the missing ones', async () => {
    const { kept, first, sql, restart, again } = await stopped([3, 3, 6], dump)
    restore(sql)
    const { code, stdout } = await restart()
    expect([code, stdout]).toEqual([0, expect.stringContaining('9 signed entries are missing')])
    expect(restarts(sql)).toMatchObject([
      { old_size: kept.size, size: begun + 3, kept_size: begun + 3, accepted_changed_entries: false },
    ])
    const running = await again()
    await logSteps(running, 'after', 2)
    const now = await checkpointOf(running, 3 + 1 + 2)
    const trust = `log ${now.key}\nlog ${first.key}\n`
    for (const query of ['', `?from=${now.published_at}`]) {
      const bundle = auditor.put('bundle.zip', await downloadBundle(running, query))
      const verdict = await verifyWithBoth(bundle, trust, auditor)
      expect(verdict).toMatchObject({ valid: true, restarts: [{ old_size: kept.size, gone: 9, by: 'operator:local' }] })
      expect(verdictText(bundle, verdict)).toContain(`9 of the ${kept.size} entries that were signed before are gone`)
    }
    const whole = auditor.put('bundle.zip', await downloadBundle(running))
    expect(await verifyWithBoth(whole, trust, auditor, first.note)).toMatchObject({ valid: true, since: begun + 3 })
    const { findings } = await verifyWithBoth(whole, trust, auditor, kept.note)
    expect(findings).toMatchObject([{ code: 'entries_gone', message: expect.stringContaining('9 of them are gone') }])
    await discard(running)
  })
})

describe.skipIf(postgres === null)('a platform with a restored backup', () => {
  if (postgres === null) return
  const { stopped } = stoppedLogs(postgres)

  it.each([
    ['shorter than the signed one', restore, /is shorter than the \d+ signed entries/],
    ['different from the signed one', (sql: Sql) => rewriteLog(sql, begun + 9), /are not the signed ones/],
  ])('reports at its start that the log is %s, with the command to run', async (_, change, reason) => {
    const { url, platform, sql } = await stopped([3, 6], dump)
    change(sql)
    const env = {
      SVC_DATABASE_URL: url,
      SVC_DATA_DIR: platform.data_dir,
      SVC_PORT: '0',
      SVC_CHECKPOINT_SECONDS: '3600',
    }
    const started = await startProcess(env)
    const line = started.printed.split('\n').find((one) => one.includes('checkpoints are rejected')) ?? '{}'
    const { msg = '', org_id } = JSON.parse(line) as { msg?: string; org_id?: string }
    expect(msg).toMatch(reason)
    const command = `npx --no-install svc-platform new-epoch --org ${org_id} --reason 'restored a backup'`
    expect(msg.endsWith(`run: ${command}`)).toBe(true)
    await started.terminate()
    remove(platform)
  })
})
