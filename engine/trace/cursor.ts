// How much of a journal has arrived, in a small file beside it.
import { closeSync, constants, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { readIfThere } from '../files/durable-file.js'

export interface Cursor {
  readonly write: (offset: number) => void
  readonly close: () => void
}

const fileName = 'cursor'
/** Bytes; offsets beyond it would not be exact once lines are added. */
export const maxOffset = 2 ** 52

/** The offset in the folder; 0 when there is none that can be read: what has arrived is sent again, which adds nothing. */
export function readCursor(folder: string): number {
  const offset = Number(readIfThere(join(folder, fileName)) ?? 0)
  return Number.isSafeInteger(offset) && offset >= 0 && offset <= maxOffset ? offset : 0
}

/**
 * Each write replaces the bytes in place: the file has one size, so that it can be written while the disk is full. It is not
 * flushed: after a power cut some lines are sent again.
 */
export function openCursor(folder: string): Cursor {
  const file = openSync(join(folder, fileName), constants.O_CREAT | constants.O_WRONLY, 0o600)
  return {
    write: (offset) => void writeSync(file, `${String(offset).padStart(20, '0')}\n`, 0),
    close: () => closeSync(file),
  }
}
