// Going on with a log after a restore: what was signed for is compared with what is stored, and a log that was rewritten
// is refused unless a person accepts it, which its verifiers see.
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LogCheckpoint } from '@svc/schemas'
import { afterAll, describe, expect, it } from 'vitest'
import { bothOn, downloadBundle, openDesk } from '../support/bundle.js'
import { dump, restore, rewriteLog } from '../support/database.js'
import { begun, checkpointOf, fast, logSteps, register } from '../support/log.js'
import { discard, startPlatform, type TestPlatform } from '../support/platform.js'
import { startPostgres } from '../support/postgres.js'
import { runPlatform, startProcess } from '../support/process.js'

const postgres = await startPostgres()
afterAll(() => postgres?.remove())
const desk = openDesk()
afterAll(() => desk.clear())

interface Stopped {
  readonly url: string
  readonly platform: TestPlatform
  readonly kept: LogCheckpoint
  readonly sql: (text: string) => string
  readonly restart: (...more: string[]) => ReturnType<typeof runPlatform>
  readonly again: () => Promise<TestPlatform>
}

/** A platform that has signed for these numbers of steps, one after the other, and was stopped. */
async function stopped(counts: readonly number[], between: (sql: Stopped['sql']) => void = () => undefined) {
  const url = postgres?.freshDatabase() ?? ''
  const sql = (text: string) => postgres?.psql(url, text) ?? ''
  const env = { ...fast, SVC_ANCHORS: `file:${join(desk.folder, url.replace(/.*\//, ''))}` }
  const platform = await startPlatform({ database_url: url, env })
  await register(platform)
  let [steps, kept] = [0, await checkpointOf(platform, 0)]
  for (const [index, count] of counts.entries()) {
    await logSteps(platform, `task-${index}`, count)
    steps += count
    kept = await checkpointOf(platform, steps)
    if (index === 0) between(sql)
  }
  await platform.close()
  const own = { SVC_DATABASE_URL: url, SVC_DATA_DIR: platform.data_dir }
  const restart = (...more: string[]) => runPlatform(['new-incarnation', '--reason', 'the disk failed', ...more], own)
  const again = () => startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
  return { url, platform, kept, sql, restart, again } satisfies Stopped
}

/** Of one that was closed. */
const remove = ({ data_dir }: TestPlatform) => rmSync(data_dir, { recursive: true })

const restarts = (sql: Stopped['sql']) =>
  sql(`select data from events where kind = 'log.restarted' order by at`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe.skipIf(postgres === null)('a log that is to go on after a restore', () => {
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
    const { code, stderr } = await runPlatform(['new-incarnation', '--reason', 'x'], env)
    expect([code, stderr]).toEqual([1, expect.stringContaining(kept.root)])
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
    await discard(running)
  })

  it('goes on from a shorter log that is how the signed one began, and counts what is gone', async () => {
    const { kept, sql, restart, again } = await stopped([3, 3, 6], dump)
    restore(sql)
    const { code, stdout } = await restart()
    expect([code, stdout]).toEqual([0, expect.stringContaining('9 entries that were signed for are gone')])
    expect(restarts(sql)).toMatchObject([
      { old_size: kept.size, size: begun + 3, kept_size: begun + 3, accepted_changed_entries: false },
    ])
    const running = await again()
    await logSteps(running, 'after', 2)
    const now = await checkpointOf(running, 3 + 1 + 2)
    const bundle = desk.put('bundle.zip', await downloadBundle(running))
    expect((await bothOn(bundle, `log ${now.key}\n`, desk)).valid).toBe(true)
    await discard(running)
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

  it('remembers a few of the sizes that were signed for, beside the last', async () => {
    const { platform, kept } = await stopped([3, 3, 6])
    const path = join(platform.data_dir, 'log', 'signed', `${encodeURIComponent(kept.origin)}.json`)
    const state = JSON.parse(readFileSync(path, 'utf8')) as { size: number; earlier: { size: number }[] }
    expect(state.size).toBe(kept.size)
    expect(state.earlier.map(({ size }) => size)).toEqual(expect.arrayContaining([begun, begun + 3, begun + 6]))
    remove(platform)
  })
})

describe.skipIf(postgres === null)('a platform over a backup that was restored', () => {
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
    const command = `npx --no-install svc-platform new-incarnation --org ${org_id} --reason 'restored a backup'`
    expect(msg.endsWith(`run: ${command}`)).toBe(true)
    await started.terminate()
    remove(platform)
  })
})
