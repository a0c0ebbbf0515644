// A log that was signed for, whose platform is stopped: what its database holds can be replaced before it goes on.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LogCheckpoint } from '@svc/schemas'
import type { Desk } from './bundle.js'
import { checkpointOf, fast, logSteps, register } from './log.js'
import { startPlatform, type TestPlatform } from './platform.js'
import type { SharedPostgres } from './postgres.js'
import { runPlatform } from './process.js'

export interface Stopped {
  readonly url: string
  readonly platform: TestPlatform
  readonly kept: LogCheckpoint
  /** The checkpoint after the first of the numbers. */
  readonly first: LogCheckpoint
  readonly sql: (text: string) => string
  readonly restart: (...more: string[]) => ReturnType<typeof runPlatform>
  readonly again: () => Promise<TestPlatform>
}

/** A platform that has signed for these numbers of steps, one after the other, and was stopped. */
export async function stopped(
  postgres: SharedPostgres,
  desk: Desk,
  counts: readonly number[],
  between: (sql: Stopped['sql']) => void = () => undefined,
): Promise<Stopped> {
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  const env = { ...fast, SVC_ANCHORS: `file:${join(desk.folder, url.replace(/.*\//, ''))}` }
  const platform = await startPlatform({ database_url: url, env })
  await register(platform)
  let [steps, kept] = [0, await checkpointOf(platform, 0)]
  let first = kept
  for (const [index, count] of counts.entries()) {
    await logSteps(platform, `task-${index}`, count)
    steps += count
    kept = await checkpointOf(platform, steps)
    if (index > 0) continue
    first = kept
    between(sql)
  }
  await platform.close()
  const own = { SVC_DATABASE_URL: url, SVC_DATA_DIR: platform.data_dir }
  const restart = (...more: string[]) => runPlatform(['new-epoch', '--reason', 'the disk failed', ...more], own)
  const again = () => startPlatform({ database_url: url, data_dir: platform.data_dir, env: fast })
  return { url, platform, kept, first, sql, restart, again }
}

/** Removes the data of a platform that is closed. */
export const remove = ({ data_dir }: TestPlatform) => rmSync(data_dir, { recursive: true })

/** What the restart events of the log hold, the earliest first. */
export const restarts = (sql: Stopped['sql']) =>
  sql(`select data from events where kind = 'log.restarted' order by at`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
