// The template of the embedded database: the build creates it, and the first start copies it.
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Path of the template in the build; tests run from the sources beside it. */
export function newDatabasePath(): string {
  const build = import.meta.url.includes('/dist/') ? '../' : '../dist/'
  return fileURLToPath(new URL(`${build}new-database`, import.meta.url))
}

/**
 * Creates the folder of the database, readable by its owner only: PGlite makes its files readable by every user. A copy of
 * the template appears whole or not at all.
 */
export function prepareFolder(folder: string, new_database: string | null): void {
  if (!existsSync(folder) && new_database !== null && existsSync(new_database)) copy(new_database, folder)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
}

/** The parent folders in which every user can rename or remove an entry. */
export function openParents(folder: string): string[] {
  const parent = dirname(folder)
  const { mode } = statSync(parent)
  const isOpen = (mode & 0o002) !== 0 && (mode & 0o1000) === 0
  const above = parent === folder ? [] : openParents(parent)
  return isOpen ? [parent, ...above] : above
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
