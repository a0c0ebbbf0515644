// Reads a file that the caller named.
import { readFileSync, statSync } from 'node:fs'

const reasons = {
  EISDIR: 'is a folder: name a file',
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'is not readable: permission denied',
} as const

export type FileErrorCode = keyof typeof reasons

/** A file that cannot be read, with the code of the system and a message that names the file. */
export class FileError extends Error {
  readonly code: FileErrorCode

  constructor(path: string, code: FileErrorCode) {
    super(`\`${path}\` ${reasons[code]}`)
    this.code = code
  }
}

/** The text of a file. Throws FileError. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw fileError(path, error)
  }
}

/** True if the path is a folder. Throws FileError. */
export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch (error) {
    throw fileError(path, error)
  }
}

/** A FileError for an error of the file system; any other error unchanged. */
export function fileError(path: string, error: unknown): unknown {
  const { code = '' } = error as { code?: string }
  return Object.hasOwn(reasons, code) ? new FileError(path, code as FileErrorCode) : error
}
