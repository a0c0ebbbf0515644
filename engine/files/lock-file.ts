// One process per folder, where two would corrupt its files or contradict each other.
import {
  linkSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** Another process holds the lock of the folder. */
export class LockTaken extends Error {
  readonly code = 'LOCK_TAKEN'
}

/**
 * Takes `lock` in the directory, which is created when missing; returns the function that releases it. A lock is taken over
 * when its process has ended or its process id was reused. Throws LockTaken while its holder lives, also when that is a
 * concurrent start; `instead` completes the message with another way out.
 */
export function takeLock(directory: string, instead = 'choose another folder'): () => void {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, 'lock')
  const mine = identity(process.pid)
  for (let attempt = 0; attempt < 3; attempt++) {
    if (create(path, mine) || replaceStale(path, mine)) return () => rmSync(path, { force: true })
    const holder = read(path)
    if (holder === null || !isHeld(holder)) continue
    if (holder === mine) throw conflict(directory, 'already open in this process')
    const pid = Number.parseInt(holder, 10)
    throw conflict(directory, `in use by process ${pid}: stop it first, or ${instead}`)
  }
  throw conflict(directory, 'being opened by another process')
}

/** Creates the file with its content, atomically: an empty lock would be taken for a stale one. */
function create(path: string, content: string): boolean {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, content, { mode: 0o600 })
    linkSync(draft, path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    // A full disk has no block for a file, and takes a link, whose text is in its inode.
    if (code === 'ENOSPC' || code === 'EDQUOT') return link(path, content)
    throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/** As `create`, as a symbolic link to its content. */
function link(path: string, content: string): boolean {
  try {
    symlinkSync(content, path)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

// INVARIANT (one-successor): a stale lock is replaced only by the process that holds `lock.next`, and only after that process
// has read it again: of two starts that saw the same stale lock, the later one finds the lock of the earlier one.
function replaceStale(path: string, mine: string): boolean {
  const next = `${path}.next`
  if (!create(next, mine)) {
    const claimant = read(next)
    if (claimant !== null && !isHeld(claimant)) rmSync(next, { force: true })
    return false
  }
  const holder = read(path)
  if (holder === null || isHeld(holder)) {
    rmSync(next, { force: true })
    return false
  }
  return rename(next, path) && read(path) === mine
}

/** False when another start has removed the claim, as it does with a claim that a crash left. */
function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

function isHeld(holder: string): boolean {
  return holder === identity(Number.parseInt(holder, 10))
}

function conflict(directory: string, what: string): LockTaken {
  return new LockTaken(`\`${directory}\` is ${what}`)
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return readLink(path)
  }
}

/** Null when it is not a link. */
function readLink(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    return null
  }
}

/** A process id with the start time of its process, where the system reports it, so that a reused id is recognized. */
function identity(pid: number): string {
  return `${pid} ${startTime(pid) ?? (isAlive(pid) ? 'alive' : 'gone')}`
}

/** Field 22 of /proc/<pid>/stat; the command before it may contain spaces and brackets. */
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
