// A stopped platform with a signed log: tests change its database before the log continues.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { LogCheckpoint } from '@svc/schemas'
import { afterAll } from 'vitest'
import { type AuditorFolder, openAuditorFolder } from '../log/bundle.js'
import { checkpointOf, fast, logSteps, register } from '../log/log.js'
import type { Sql } from './database.js'
import { startPlatform, type TestPlatform } from './platform.js'
import type { SharedPostgres } from './postgres.js'
import { runPlatform } from './process.js'

interface Stopped {
  readonly url: string
  readonly platform: TestPlatform
  readonly kept: LogCheckpoint
  /** The checkpoint after the first task. */
  readonly first: LogCheckpoint
  readonly sql: Sql
  /** Runs `svc-platform new-epoch` with these arguments. */
  readonly restart: (...more: string[]) => ReturnType<typeof runPlatform>
  /** Starts the platform again. */
  readonly again: () => Promise<TestPlatform>
}

interface StoppedLogs {
  readonly auditor: AuditorFolder
  /** Logs and signs a task for each number of steps, and stops the platform; `between` runs after the first task. */
  readonly stopped: (counts: readonly number[], between?: (sql: Sql) => void) => Promise<Stopped>
}

/** Stopped platforms for the tests of a file, with a folder for their files. */
export function stoppedLogs(postgres: SharedPostgres): StoppedLogs {
  const auditor = openAuditorFolder()
  afterAll(() => auditor.clear())
  return { auditor, stopped: (counts, between = () => undefined) => stopAfter(postgres, auditor, counts, between) }
}

async function stopAfter(
  postgres: SharedPostgres,
  auditor: AuditorFolder,
  counts: readonly number[],
  between: (sql: Sql) => void,
): Promise<Stopped> {
  const url = postgres.freshDatabase()
  const sql = (text: string) => postgres.psql(url, text)
  const env = { ...fast, SVC_ANCHORS: `file:${join(auditor.folder, url.replace(/.*\//, ''))}` }
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

/** Removes the data of a stopped platform. */
export const remove = ({ data_dir }: TestPlatform) => rmSync(data_dir, { recursive: true })

/** The data of the events `log.restarted`, earliest first. */
export const restarts = (sql: Sql) =>
  sql(`select data from events where kind = 'log.restarted' order by at`)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
