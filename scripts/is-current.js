// Whether the build can keep what it made before.
import { existsSync, statSync } from 'node:fs'

/** Whether the file exists and is newer than all its sources. */
export function isCurrent(path, sources) {
  return existsSync(path) && sources.every((source) => statSync(source).mtimeMs < statSync(path).mtimeMs)
}
