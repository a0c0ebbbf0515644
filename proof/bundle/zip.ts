// The zip file of a bundle. Zip lets one content be written in many ways; this one is written in one way only (no comments,
// no extras, one date, folders and links unknown), so that every byte of it follows from the list of what it holds.

export interface ZipEntry {
  /** ASCII, without folders. */
  readonly name: string
  /** True when the bytes are deflated (RFC 1951). */
  readonly deflated: boolean
  /** CRC-32 of the content. */
  readonly crc32: number
  /** Bytes as they stand in the file. */
  readonly packed: number
  /** Bytes of the content. */
  readonly bytes: number
}

export interface ZipPart {
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface ZipLayout {
  /** What stands before each entry, in order; its packed bytes follow. */
  readonly headers: readonly ZipPart[]
  /** What stands at the end. */
  readonly directory: ZipPart
  readonly size: number
}

/** What a zip without its 64-bit extension can hold. */
export const largestZip = 0xffff_ffff

const headerSize = 30
const recordSize = 46
const endSize = 22
/** 1 January 1980, midnight: the first date zip knows. */
const date = 0x0021
/** Names are UTF-8, which ASCII is. */
const flags = 0x0800
/** Version 2.0, made on unix: a regular file that its owner may write and everybody read. */
const madeBy = 0x0314
const attributes = 0o100644 * 0x1_0000

/** Where everything stands. Throws RangeError when it would take more than 4 GiB. */
export function zipLayout(entries: readonly ZipEntry[]): ZipLayout {
  const headers: ZipPart[] = []
  const records: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    headers.push({ offset, bytes: headerOf(entry) })
    records.push(recordOf(entry, offset))
    offset += headerSize + entry.name.length + entry.packed
    if (offset > largestZip) throw new RangeError('a bundle holds 4 GiB at most')
  }
  const list = Buffer.concat(records)
  const bytes = Buffer.concat([list, endOf(entries.length, list.length, offset)])
  return { headers, directory: { offset, bytes }, size: offset + bytes.length }
}

/** Where the packed bytes of each entry begin. */
export function contentOffsets(entries: readonly ZipEntry[]): number[] {
  const { headers } = zipLayout(entries)
  return headers.map(({ offset, bytes }) => offset + bytes.length)
}

/** Where the directory must begin, by the last 22 bytes of a file of that size; null when these are no end of a zip. */
export function directoryOffset(end: Uint8Array, size: number): number | null {
  const view = Buffer.from(end)
  if (view.length !== endSize || view.readUInt32LE(0) !== 0x06054b50) return null
  const offset = view.readUInt32LE(16)
  return offset + view.readUInt32LE(12) + endSize === size ? offset : null
}

/** What the directory lists; null when it is none that could have been written here. */
export function readDirectory(directory: Uint8Array): ZipEntry[] | null {
  const view = Buffer.from(directory)
  const entries: ZipEntry[] = []
  let at = 0
  while (at + recordSize <= view.length - endSize) {
    const [crc32, packed, bytes] = [16, 20, 24].map((field) => view.readUInt32LE(at + field)) as [
      number,
      number,
      number,
    ]
    const end = at + recordSize + view.readUInt16LE(at + 28)
    const name = view.subarray(at + recordSize, end).toString('latin1')
    if (!/^[A-Za-z_]+\.[a-z]+$/.test(name)) return null
    entries.push({ name, deflated: view.readUInt16LE(at + 10) === 8, crc32, packed, bytes })
    at = end
  }
  return at === view.length - endSize ? entries : null
}

function headerOf({ name, deflated, crc32, packed, bytes }: ZipEntry): Buffer {
  const header = Buffer.alloc(headerSize)
  header.writeUInt32LE(0x04034b50, 0)
  writeShorts(header, 4, [20, flags, deflated ? 8 : 0, 0, date])
  writeLongs(header, 14, [crc32, packed, bytes])
  writeShorts(header, 26, [name.length, 0])
  return Buffer.concat([header, Buffer.from(name, 'latin1')])
}

function recordOf({ name, deflated, crc32, packed, bytes }: ZipEntry, offset: number): Buffer {
  const record = Buffer.alloc(recordSize)
  record.writeUInt32LE(0x02014b50, 0)
  writeShorts(record, 4, [madeBy, 20, flags, deflated ? 8 : 0, 0, date])
  writeLongs(record, 16, [crc32, packed, bytes])
  writeShorts(record, 28, [name.length, 0, 0, 0, 0])
  writeLongs(record, 38, [attributes, offset])
  return Buffer.concat([record, Buffer.from(name, 'latin1')])
}

function endOf(count: number, length: number, offset: number): Buffer {
  const end = Buffer.alloc(endSize)
  end.writeUInt32LE(0x06054b50, 0)
  writeShorts(end, 4, [0, 0, count, count])
  writeLongs(end, 12, [length, offset])
  return end
}

function writeShorts(buffer: Buffer, at: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) buffer.writeUInt16LE(value, at + 2 * index)
}

function writeLongs(buffer: Buffer, at: number, values: readonly number[]): void {
  for (const [index, value] of values.entries()) buffer.writeUInt32LE(value, at + 4 * index)
}
