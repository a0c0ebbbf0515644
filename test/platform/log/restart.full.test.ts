// `svc-platform new-epoch` on logs with missing or altered rows, and the tree to which the new epoch is bound.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { begun } from '../../support/log/log.js'
import { dump, restore, rewriteLog } from '../../support/server/database.js'
import { discard } from '../../support/server/platform.js'
import { sharedPostgres } from '../../support/server/postgres.js'
import { runPlatform } from '../../support/server/process.js'
import { remove, stoppedLogs } from '../../support/server/restart.js'

const postgres = await sharedPostgres()

describe.skipIf(postgres === null)('a new epoch of a log', () => {
  if (postgres === null) return
  const { auditor, stopped } = stoppedLogs(postgres)

  it('is rejected when a record is altered or missing', async () => {
    const { platform, kept, sql, restart } = await stopped([6])
    const index = begun + 2
    sql(`create table kept_e as table log_entries;
      update log_entries set record = replace(record, '"step":3', '"step":9') where log_index = ${index}`)
    expect((await restart()).stderr).toContain(`entry ${index} does not match its hash`)
    sql(`delete from log_entries where log_index = ${index}`)
    expect((await restart()).stderr).toContain(`entry ${index} is missing`)
    sql(`delete from log_leaves where log_index = ${kept.size - 1}`)
    expect((await restart('--accept-changed-entries')).stderr).toContain(`leaf ${kept.size - 1} is missing`)
    remove(platform)
  })

  it('is rejected by an anchored checkpoint when the signed state is missing', async () => {
    const { url, platform, kept, sql } = await stopped([6])
    rewriteLog(sql, kept.size)
    rmSync(join(platform.data_dir, 'log', 'signed'), { recursive: true })
    const anchor = join(auditor.folder, url.replace(/.*\//, ''))
    const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: platform.data_dir, SVC_ANCHORS: `file:${anchor}` }
    const { code, stderr } = await runPlatform(['new-epoch', '--reason', 'x'], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining(kept.root)])
    remove(platform)
  })

  it('is bound to the tree that the command read', async () => {
    const { sql, restart, again, kept } = await stopped([3, 3], dump)
    restore(sql)
    expect((await restart()).code).toBe(0)
    rewriteLog(sql, begun + 4)
    const running = await again()
    expect((await running.call<{ checkpoints: string }>('GET', '/readyz')).body.checkpoints).toBe('refused')
    expect(kept.origin).toMatch(/\/1$/)
    await discard(running)
  })

  it('does not begin from an epoch that only the database names', async () => {
    const { sql, restart, again, kept } = await stopped([4])
    rewriteLog(sql, kept.size)
    sql('update org_log set epoch = 7')
    expect((await restart()).stderr).toContain(kept.root)
    await discard(await again())
  })
})
