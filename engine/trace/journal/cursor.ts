// The part of a journal that has arrived, in a small file beside it.
import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openingOwn, readIfThere } from '../../files/durable-file.js'

export interface Cursor {
  readonly write: (position: Position) => void
  readonly close: () => void
}

export interface Position {
  /** The part that has arrived. */
  readonly offset: number
  /** Lines that the disk did not take: they end with the process. */
  readonly unwritten: number
}

const fileName = 'cursor'
/** Bytes; offsets beyond it would not be exact once lines are added. */
export const maxOffset = 2 ** 52

/** The position in the folder; 0 when there is none that can be read: what has arrived is sent again, which adds nothing. */
export function readCursor(folder: string): Position {
  const [offset = '', unwritten = ''] = (readIfThere(join(folder, fileName)) ?? '').split('\n')
  return { offset: countIn(offset), unwritten: countIn(unwritten) }
}

function countIn(text: string): number {
  const count = Number(text)
  return Number.isSafeInteger(count) && count >= 0 && count <= maxOffset ? count : 0
}

/**
 * Each write replaces the bytes in place: the file has one size, so that it can be written while the disk is full. It is not
 * flushed: after a power cut some lines are sent again.
 */
export function openCursor(folder: string): Cursor {
  const file = openSync(join(folder, fileName), openingOwn.overwrite, 0o600)
  return {
    write: ({ offset, unwritten }) => void writeSync(file, `${digits(offset)}\n${digits(unwritten)}\n`, 0),
    close: () => closeSync(file),
  }
}

function digits(count: number): string {
  return String(count).padStart(20, '0')
}
