// A folder, such as one on write-once storage, with a file per checkpoint.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine/parts'
import { type Anchor, fileNameOf } from './anchor.js'

/** `file:FOLDER`; null for anything else. */
export function fileAnchor(text: string): Anchor | null {
  const folder = folderIn(text)
  if (folder === null) return null
  return {
    name: text,
    store: async ({ origin, size, note }) => replaceFile(join(folder, fileNameOf(origin), `${size}.note`), note),
  }
}

/**
 * Two notes of a log in a `file:` anchor: the largest one, and the largest one for at most `size` entries. Empty for an anchor
 * of another kind and for a folder that cannot be read.
 */
export function notesInAnchor(text: string, origin: string, size: number): string[] {
  const folder = folderIn(text)
  if (folder === null) return []
  const own = join(folder, fileNameOf(origin))
  const sizes = namesIn(own).flatMap((name) => (/^\d{1,15}\.note$/.test(name) ? [Number.parseInt(name, 10)] : []))
  const chosen = new Set([Math.max(...sizes), Math.max(...sizes.filter((one) => one <= size))].filter(Number.isFinite))
  return [...chosen].flatMap((one) => readIfThere(join(own, `${one}.note`)) ?? [])
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

function folderIn(text: string): string | null {
  return /^file:(.+)$/.exec(text)?.[1] ?? null
}
