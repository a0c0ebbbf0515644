// The folders of queues on disk: each is held by one process, and what ended processes left is taken over.
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { takeLock } from '../../files/lock-file.js'

export interface HeldFolder {
  readonly folder: string
  /** Makes the folder again, and holds it, when another program has removed it. Throws while that cannot be done. */
  readonly renew: () => void
  readonly release: () => void
}

/** Engines that share one data directory. */
const maxFolders = 16

/** The first folder that no other process holds; null when there is none. */
export function holdFolder(parent: string, name: string): HeldFolder | null {
  for (let number = 1; number <= maxFolders; number++) {
    const held = hold(folderOf(parent, name, number))
    if (held !== null) return held
  }
  return null
}

/** The other folders whose processes have ended, the one with the oldest lines first. The caller releases them. */
export function leftFolders(parent: string, name: string, own: string): HeldFolder[] {
  const numbers = Array.from({ length: maxFolders }, (_, index) => index + 1)
  const folders = numbers.map((number) => folderOf(parent, name, number)).filter((path) => path !== own)
  return folders
    .filter((folder) => existsSync(folder) && hasFiles(folder))
    .flatMap((folder) => hold(folder) ?? [])
    .map((held) => ({ held, age: ageOf(held.folder) }))
    .sort((one, other) => one.age - other.age)
    .map(({ held }) => held)
}

function folderOf(parent: string, name: string, number: number): string {
  return join(parent, number === 1 ? name : `${name}-${number}`)
}

/** Null when another process holds the folder, or it cannot be written. */
function hold(folder: string): HeldFolder | null {
  try {
    let release = takeLock(folder)
    let held = idOf(folder)
    const renew = () => {
      if (idOf(folder) === held) return
      release = takeLock(folder)
      held = idOf(folder)
    }
    return { folder, renew, release: () => release() }
  } catch {
    return null
  }
}

/** Null when it does not exist. */
function idOf(folder: string): string | null {
  const found = statSync(folder, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.ino} ${found.birthtimeMs}`
}

const ofQueue = /\.jsonl$|^dropped\.json$/

/** False also for what is not a folder, and for one that this user may not read. */
function hasFiles(folder: string): boolean {
  try {
    return readdirSync(folder).some((file) => ofQueue.test(file))
  } catch {
    return false
  }
}

/** The time when its oldest lines were written last, ms since 1970. */
function ageOf(folder: string): number {
  const times = readdirSync(folder).flatMap((file) =>
    ofQueue.test(file) ? [statSync(join(folder, file)).mtimeMs] : [],
  )
  return Math.min(...times)
}
