// Outages of the database: one line of the log for each, however many requests fail.
import { statfs } from 'node:fs/promises'
import type { Config } from '../config.js'
import { failureKind, failureText } from './failure.js'

export interface Outage {
  /** Reports the beginning of an outage; other failures are left to the caller. */
  readonly failed: (error: unknown) => void
  /** The database has answered: a lost connection is back. */
  readonly answered: () => void
  /** The database has stored something large: its disk has space. */
  readonly stored: () => void
  readonly isDiskFull: () => boolean
}

/** Without a failure for so long, the next one is a new outage, ms. */
const quietMs = 60_000

/** `now`: ms of a clock that does not jump. */
export function createOutage(
  config: Pick<Config, 'database_url' | 'data_dir'>,
  remark: (message: string) => void,
  now: () => number = () => performance.now(),
): Outage {
  const last: { disk: number | null; connection: number | null } = { disk: null, connection: null }
  const end = (kind: 'disk' | 'connection', message: string) => {
    if (last[kind] === null) return
    last[kind] = null
    remark(message)
  }
  return {
    failed: (error) => {
      const kind = failureKind(error)
      if (kind === 'other') return
      const before = last[kind]
      last[kind] = now()
      if (before === null || now() - before > quietMs)
        remark(failureText(error, config) ?? 'the database is unavailable')
    },
    answered: () => end('connection', 'the database is available again'),
    stored: () => end('disk', 'the disk of the database has space again'),
    isDiskFull: () => last.disk !== null,
  }
}

/** About 1 MiB in new pages, in a transaction that leaves nothing: it fails while the disk is full. */
export const fillPages = /* sql */ `
create temp table svc_space on commit drop as select repeat('x', 1000) as text from generate_series(1, 1000)`

/** The files of keys and of signed states are small. */
const minFreeBytes = 1024 * 1024

/** True if the disk of one of the folders is full. */
export async function isAnyFull(folders: readonly string[]): Promise<boolean> {
  const free = await Promise.all(folders.map(freeBytes))
  return free.some((bytes) => bytes < minFreeBytes)
}

/** Without a limit for a folder that is missing, or on a system that does not say. */
function freeBytes(folder: string): Promise<number> {
  return statfs(folder).then(
    ({ bavail, bsize, blocks }) => (blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize),
    () => Number.POSITIVE_INFINITY,
  )
}
