// A folder, such as one on storage that can be written once: a file for each checkpoint.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere, replaceFile } from '@svc/engine'
import { type Anchor, fileNameOf } from './anchor.js'

/** `file:FOLDER`; null for anything else. */
export function fileAnchor(text: string): Anchor | null {
  const folder = folderIn(text)
  if (folder === null) return null
  return {
    name: text,
    keep: async ({ origin, size, note }) => replaceFile(join(folder, fileNameOf(origin), `${size}.note`), note),
  }
}

/**
 * Notes that a `file:` anchor has kept of a log: the one of the largest size, and the largest of at most `size` entries.
 * Empty for an anchor of another kind, or one whose folder cannot be read.
 */
export function notesKeptBy(text: string, origin: string, size: number): string[] {
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
