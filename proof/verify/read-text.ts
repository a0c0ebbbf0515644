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
    const { code = '', message } = error as { code?: string; message: string }
    const trouble = troubles[code]
    throw Object.assign(new Error(trouble === undefined ? message : `\`${path}\` ${trouble}`), { code })
  }
}
