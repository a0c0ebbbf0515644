// A new embedded database with its tables: made once when the program is built, and copied at a first start.
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Where the build puts it; tests run from the sources beside the build. */
export function newDatabasePath(): string {
  const build = import.meta.url.includes('/dist/') ? '../' : '../dist/'
  return fileURLToPath(new URL(`${build}new-database`, import.meta.url))
}

/**
 * Makes sure that the folder of the database is there, and open to its owner only: the engine leaves its files open to
 * everybody. A copy appears whole or not at all.
 */
export function prepareFolder(folder: string, new_database: string | null): void {
  if (!existsSync(folder) && new_database !== null && existsSync(new_database)) copy(new_database, folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
}

/** The folders above this one in which every user may rename or remove it. */
export function openParents(folder: string): string[] {
  const parent = dirname(folder)
  const { mode } = statSync(parent)
  const isOpen = (mode & 0o002) !== 0 && (mode & 0o1000) === 0
  return [...(isOpen ? [parent] : []), ...(parent === folder ? [] : openParents(parent))]
}

function copy(from: string, to: string): void {
  const draft = mkdtempSync(`${join(dirname(to), 'new-')}`)
  try {
    cpSync(from, draft, { recursive: true })
    renameSync(draft, to)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}
