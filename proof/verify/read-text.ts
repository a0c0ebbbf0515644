// A file that somebody named.
import { readFileSync } from 'node:fs'

const troubles: Readonly<Record<string, string>> = {
  EISDIR: 'is a folder: name a file',
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
}

/** Its text. Throws an error with the system's code, in words that name the file. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fileError(path, error)
  }
}

/** An error of the file system in words that name the file, with its code; another error as it is. */
export function fileError(path: string, error: unknown): unknown {
  const { code } = error as { code?: string }
  const trouble = troubles[code ?? '']
  return trouble === undefined ? error : Object.assign(new Error(`\`${path}\` ${trouble}`), { code })
}
