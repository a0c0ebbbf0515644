// Going on with a log after a restore: what was signed for is compared with what is stored, and a log that was rewritten
// is refused unless a person accepts it, which its verifiers see.
// Going on with a log after a restore: what was signed for is compared with what is stored, and a log that was rewritten
// is refused unless a person accepts it, which its verifiers see.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { openDesk } from '../../support/bundle.js'
import { dump, restore, rewriteLog } from '../../support/database.js'
import { begun } from '../../support/log.js'
import { discard } from '../../support/platform.js'
import { sharedPostgres } from '../../support/postgres.js'
import { runPlatform } from '../../support/process.js'
import { remove, type Stopped, stopped as stoppedOn } from '../../support/restart.js'

const postgres = await sharedPostgres()
const desk = openDesk()
afterAll(() => desk.clear())

describe.skipIf(postgres === null)('a log that is to go on after a restore', () => {
  if (postgres === null) return
  const stopped = (counts: readonly number[], between?: (sql: Stopped['sql']) => void) =>
    stoppedOn(postgres, desk, counts, between)

  it('is refused with a record that is not what its hash says, and with one that is missing', async () => {
    const { platform, kept, sql, restart } = await stopped([6])
    const place = begun + 2
    sql(`create table kept_e as table log_entries;
      update log_entries set record = replace(record, '"step":3', '"step":9') where log_index = ${place}`)
    expect((await restart()).stderr).toContain(`entry ${place} is not what its hash says`)
    sql(`delete from log_entries where log_index = ${place}`)
    expect((await restart()).stderr).toContain(`entry ${place} is missing`)
    sql(`delete from log_leaves where log_index = ${kept.size - 1}`)
    expect((await restart('--accept-changed-entries')).stderr).toContain(`leaf ${kept.size - 1} is missing`)
    remove(platform)
  })

  it('is refused against what an anchor has kept, when the signer has forgotten it', async () => {
    const { url, platform, kept, sql } = await stopped([6])
    rewriteLog(sql, kept.size)
    rmSync(join(platform.data_dir, 'log', 'signed'), { recursive: true })
    const anchor = join(desk.folder, url.replace(/.*\//, ''))
    const env = { SVC_DATABASE_URL: url, SVC_DATA_DIR: platform.data_dir, SVC_ANCHORS: `file:${anchor}` }
    const { code, stderr } = await runPlatform(['new-epoch', '--reason', 'x'], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining(kept.root)])
    remove(platform)
  })

  it('is bound to what was read when it was begun', async () => {
    const { sql, restart, again, kept } = await stopped([3, 3], dump)
    restore(sql)
    expect((await restart()).code).toBe(0)
    rewriteLog(sql, begun + 4)
    const running = await again()
    expect((await running.call<{ checkpoints: string }>('GET', '/readyz')).body.checkpoints).toBe('refused')
    expect(kept.origin).toMatch(/\/1$/)
    await discard(running)
  })

  it('is not begun under a name that the database alone has chosen', async () => {
    const { sql, restart, again, kept } = await stopped([4])
    rewriteLog(sql, kept.size)
    sql('update org_log set incarnation = 7')
    expect((await restart()).stderr).toContain(kept.root)
    await discard(await again())
  })
})
