// Bodies of requests in bytes: the lines of a journal are joined as they are, and written a piece at a time, so that the steps
// that come meanwhile wait for one piece only.
import type { Writable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Joining and writing a piece blocks the event loop for less than 0.3 ms. */
const pieceBytes = 64 * 1024

const comma = Buffer.from(',')
const [opening, closing] = [Buffer.from('['), Buffer.from(']')]

/** JSON texts, each in parts, as a list. */
export function jsonList(items: readonly (readonly Buffer[])[]): Buffer[] {
  return [opening, ...items.flatMap((item, index) => (index === 0 ? item : [comma, ...item])), closing]
}

export function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * Writes the parts, a piece in each turn of the event loop, and ends the stream. Small parts are joined in one buffer, which is
 * filled again once it was written: new ones would only be work for the garbage collector.
 */
export async function writeParts(stream: Writable, parts: readonly Buffer[]): Promise<void> {
  for (const piece of piecesOf(parts)) {
    await new Promise<void>((resolve) => void stream.write(piece, () => resolve()))
    if (stream.destroyed) return
    await nextTurn()
  }
  stream.end()
}

/** A piece is valid until the next one is taken. */
function* piecesOf(parts: readonly Buffer[]): Generator<Buffer> {
  const joined = Buffer.allocUnsafeSlow(Math.min(pieceBytes, sizeOf(parts)))
  let size = 0
  for (const part of parts) {
    if (size > 0 && size + part.length > joined.length) {
      yield joined.subarray(0, size)
      size = 0
    }
    if (part.length <= joined.length) size += part.copy(joined, size)
    else for (let at = 0; at < part.length; at += pieceBytes) yield part.subarray(at, at + pieceBytes)
  }
  if (size > 0) yield joined.subarray(0, size)
}
