// Small files that must not be lost or seen half: keys, caches, and what has been signed.
import { randomUUID } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/** Null when there is no such file. */
export function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw error
  }
}

/**
 * The whole new text or the whole old one, also after a power cut, and when two processes write at once; readable by its
 * owner alone, as are the folders that are made for it.
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
  // Windows has no folders that can be forced to the disk.
  if (process.platform !== 'win32') forceFolder(folder)
}

function forceFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
