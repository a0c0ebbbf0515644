// Small files that must be neither lost nor partially visible: keys, caches, and signed states.
import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** The text of the file; null when it does not exist. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
}

/**
 * The reason why a folder must not hold keys, with the command that mends it: other users can replace files in it. Null for a
 * private one.
 */
export function sharedFolderProblem(folder: string): string | null {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  // Windows has no such bits: its folders belong to their user.
  if ((mode & 0o022) === 0 || process.platform === 'win32') return null
  return `other users can write in the folder \`${folder}\`, which holds keys: run \`chmod go-w ${inShell(folder)}\`, or name a folder that only you can write in`
}

/** A word of a shell. */
function inShell(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/**
 * Replaces the text atomically, also across a power cut and with concurrent writers. The file and new folders are readable
 * by their owner alone.
 */
export function replaceFile(path: string, text: string): void {
  const folder = dirname(path)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${path}.${randomUUID()}`
  try {
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
  // Windows cannot flush a folder.
  if (process.platform !== 'win32') syncFolder(folder)
}

/** As `replaceFile`, for the only process that writes the file, and without a flush: a power cut may lose the last text. */
export function replaceUnflushed(path: string, text: string): void {
  const draft = `${path}.draft`
  try {
    rmSync(draft, { force: true })
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' })
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

const { O_APPEND, O_CREAT, O_WRONLY, O_NOFOLLOW } = constants

/** Flags to open a file of this program, made when missing. A link to a file of others is not followed; Windows has none. */
export const openingOwn = {
  append: O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0),
  overwrite: O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0),
} as const

function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
