// One process per data directory: the embedded database would let a second one in silently and corrupt it.
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { PlatformError } from '../errors.js'

/**
 * Takes `lock` in the directory, which is created when missing; returns what gives it back. A lock whose process is
 * gone, or whose id another process has since been given, is taken over. Throws CONFLICT while its holder lives.
 */
export function takeLock(directory: string): () => void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, 'lock')
  const mine = identity(process.pid)
  for (let attempt = 0; attempt < 3; attempt++) {
    if (create(path, mine)) return () => rmSync(path, { force: true })
    const holder = read(path)
    if (holder !== null && holder !== mine && holder === identity(Number.parseInt(holder, 10))) {
      const pid = Number.parseInt(holder, 10)
      throw new PlatformError(
        'CONFLICT',
        `data directory \`${directory}\` is in use by process ${pid}: stop it first, or set SVC_DATA_DIR`,
      )
    }
    if (holder === mine)
      throw new PlatformError('CONFLICT', `data directory \`${directory}\` is already open in this process`)
    rmSync(path, { force: true })
  }
  throw new PlatformError('CONFLICT', `data directory \`${directory}\` is being opened by another process`)
}

function create(path: string, content: string): boolean {
  try {
    const file = openSync(path, 'wx', 0o600)
    writeSync(file, content)
    closeSync(file)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/** A process id with the time its process began where the system tells it, so that a reused id is not mistaken. */
function identity(pid: number): string {
  return `${pid} ${startTime(pid) ?? (isAlive(pid) ? 'alive' : 'gone')}`
}

/** Field 22 of /proc/<pid>/stat; the command before it may hold spaces and brackets. */
function startTime(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`)
  return stat === null ? null : (stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
