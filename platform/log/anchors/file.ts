// A folder, such as one on storage that can be written once: a file for each checkpoint.
import { join } from 'node:path'
import { replaceFile } from '@svc/engine'
import { type Anchor, fileNameOf } from './anchor.js'

/** `file:FOLDER`; null for anything else. */
export function fileAnchor(text: string): Anchor | null {
  const folder = /^file:(.+)$/.exec(text)?.[1]
  if (folder === undefined) return null
  return {
    name: text,
    keep: async ({ origin, size, note }) => replaceFile(join(folder, fileNameOf(origin), `${size}.note`), note),
  }
}
