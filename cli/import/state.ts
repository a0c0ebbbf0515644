// Which runs of a file have been acknowledged, so that a resumed import sends the others only.
import { createHash } from 'node:crypto'
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export interface ImportState {
  readonly has: (line: number) => boolean
  readonly done: (line: number) => void
  readonly clear: () => void
}

/** For input that cannot be recognised when it comes again. */
export const noState: ImportState = { has: () => false, done: () => undefined, clear: () => undefined }

/**
 * State in the user's own state folder, because the file may stand where nothing can be written. Its name follows from
 * the file as it is now and from everything else the steps and their target depend on (`about`), so that it is found
 * again for the same import only. Without `resume` what is there is forgotten. Throws when it cannot be written.
 */
export function openImportState(file: string, about: readonly unknown[], resume: boolean): ImportState {
  const { size, mtimeMs } = statSync(file)
  const name = createHash('sha256').update(JSON.stringify([resolve(file), size, mtimeMs, ...about]))
  const folder = join(process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state'), 'svc', 'imports')
  const path = join(folder, `${name.digest('hex').slice(0, 32)}.lines`)
  const lines = resume ? readDone(path) : new Set<string>()
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (!resume) rmSync(path, { force: true })
  // A line that a crash cuts short must not swallow the next one.
  appendFileSync(path, '\n')
  return {
    has: (line) => lines.has(String(line)),
    done: (line) => appendFileSync(path, `${line}.\n`),
    clear: () => rmSync(path, { force: true }),
  }
}

/** A line that a crash cut short lacks its full stop and does not count: sending again is safe. */
function readDone(path: string): Set<string> {
  try {
    const whole = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /^\d+\.$/.test(line))
    return new Set(whole.map((line) => line.slice(0, -1)))
  } catch {
    return new Set()
  }
}
