// Appends to the last file of a journal.
import { closeSync, fstatSync, fsync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** A file of the journal. */
export interface Segment {
  readonly path: string
  readonly start: number
  size: number
}

export function segmentPath(folder: string, start: number): string {
  return join(folder, `${String(start).padStart(20, '0')}.jsonl`)
}

export interface AppenderParts {
  readonly folder: string
  /** Bytes of a file. */
  readonly max_bytes: number
  /** The files in order; new ones are added. */
  readonly list: Segment[]
  /** The offset of the next byte. */
  readonly next: () => number
  /** Gets each file that is full. */
  readonly close: (file: number) => void
  /** Makes the folder again, and holds it, when another program has removed it. */
  readonly renew: () => void
}

/** Appends to the last file of the list, or to a new one where that would become too large. */
export function createAppender({ folder, max_bytes, list, next, close, renew }: AppenderParts) {
  let active: { readonly file: number; readonly segment: Segment } | null = null
  const activate = (size: number) => {
    const last = list.at(-1)
    const goes_on = last !== undefined && last.size + size <= max_bytes && last.start + last.size === next()
    const segment = goes_on ? last : { path: segmentPath(folder, next()), start: next(), size: 0 }
    renew()
    const file = openSync(segment.path, 'a+', 0o600)
    if (!goes_on) list.push(segment)
    active = { file, segment }
    return active
  }
  const retire = () => {
    if (active !== null) close(active.file)
    active = null
  }
  /** Another program has removed the file: what was written to it would end with this process. False when it is there. */
  const restore = () => {
    if (active === null || fstatSync(active.file).nlink > 0) return false
    const { file, segment } = active
    renew()
    const bytes = Buffer.alloc(segment.size)
    readSync(file, bytes, 0, bytes.length, 0)
    try {
      writeFileSync(segment.path, bytes, { mode: 0o600 })
      active = { file: openSync(segment.path, 'a+', 0o600), segment }
    } catch (error) {
      rmSync(segment.path, { force: true })
      throw error
    }
    closeSync(file)
    return true
  }
  return {
    active: () => active,
    retire,
    restore,
    append: (bytes: Buffer, is_rest: boolean) => {
      const size = active?.segment.size ?? 0
      restore()
      if (!is_rest && size > 0 && size + bytes.length > max_bytes) retire()
      const { file, segment } = active ?? activate(bytes.length)
      const written = writeSync(file, bytes)
      segment.size += written
      return written
    },
  }
}

const syncFile = promisify(fsync)

/** Flushes files one after the other, apart from the event loop: a slow disk delays no request. */
export function syncQueue() {
  let last: Promise<void> = Promise.resolve()
  /** The reason why a file could not be flushed before it was closed. */
  let failure: unknown = null
  const then = (act: () => Promise<void>) => {
    const done = last.then(act)
    last = done.catch(() => undefined)
    return done
  }
  return {
    sync: (file: number | null) =>
      then(async () => {
        if (file !== null) await syncFile(file)
        const failed = failure
        failure = null
        if (failed !== null) throw failed
      }),
    close: (file: number) =>
      void then(async () => {
        await syncFile(file).catch((error: unknown) => {
          failure = error
        })
        closeSync(file)
      }),
  }
}
