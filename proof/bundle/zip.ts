// The zip of a bundle. The format allows many encodings of one content; a bundle has exactly one (no comments, no extra
// fields, one date, no folders or links), so that every byte outside the contents follows from the list of entries.

export interface ZipEntry {
  /** ASCII, without folders. */
  readonly name: string
  /** True when the bytes are deflated (RFC 1951). */
  readonly deflated: boolean
  /** CRC-32 of the content. */
  readonly crc32: number
  /** Bytes in the zip. */
  readonly packed: number
  /** Bytes of the content. */
  readonly bytes: number
}

export interface ZipPart {
  readonly offset: number
  readonly bytes: Uint8Array
}

export interface ZipLayout {
  /** The local header of each entry, in order; its packed bytes follow. */
  readonly headers: readonly ZipPart[]
  /** The directory and the end record. */
  readonly directory: ZipPart
  readonly size: number
}

/** The limit of a zip without the 64-bit extension. */
const maxZipBytes = 0xffff_ffff

const headerBytes = 30
const recordBytes = 46
const endBytes = 22
/** 1 January 1980, midnight: the first date of the format. */
const date = 0x0021
/** Names are UTF-8. */
const flags = 0x0800
/** Version 2.0, made on Unix: a regular file with mode 0644. */
const madeBy = 0x0314
const attributes = 0o100644 * 0x1_0000

/** The headers and the directory with their offsets. Throws RangeError beyond 4 GiB. */
export function zipLayout(entries: readonly ZipEntry[]): ZipLayout {
  const headers: ZipPart[] = []
  const records: Buffer[] = []
  let offset = 0
  for (const entry of entries) {
    headers.push({ offset, bytes: headerOf(entry) })
    records.push(recordOf(entry, offset))
    offset += headerBytes + entry.name.length + entry.packed
    if (offset > maxZipBytes) throw new RangeError('a bundle is limited to 4 GiB')
  }
  const list = Buffer.concat(records)
  const bytes = Buffer.concat([list, endOf(entries.length, list.length, offset)])
  return { headers, directory: { offset, bytes }, size: offset + bytes.length }
}

/** Offset of the packed bytes of each entry. */
export function contentOffsets(entries: readonly ZipEntry[]): number[] {
  const { headers } = zipLayout(entries)
  return headers.map(({ offset, bytes }) => offset + bytes.length)
}

/** Offset of the directory, from the last 22 bytes of a file of that size; null when these are not the end of a zip. */
export function directoryOffset(end: Uint8Array, size: number): number | null {
  const view = Buffer.from(end)
  if (view.length !== endBytes || view.readUInt32LE(0) !== 0x06054b50) return null
  const offset = view.readUInt32LE(16)
  return offset + view.readUInt32LE(12) + endBytes === size ? offset : null
}

/** The entries of a directory; null when it is not that of an issued bundle. */
export function readDirectory(directory: Uint8Array): ZipEntry[] | null {
  const view = Buffer.from(directory)
  const entries: ZipEntry[] = []
  let at = 0
  while (at + recordBytes <= view.length - endBytes) {
    const end = at + recordBytes + view.readUInt16LE(at + 28)
    const name = view.subarray(at + recordBytes, end).toString('latin1')
    if (!/^[A-Za-z_]+\.[a-z]+$/.test(name)) return null
    entries.push({
      name,
      deflated: view.readUInt16LE(at + 10) === 8,
      crc32: view.readUInt32LE(at + 16),
      packed: view.readUInt32LE(at + 20),
      bytes: view.readUInt32LE(at + 24),
    })
    at = end
  }
  return at === view.length - endBytes ? entries : null
}

function headerOf({ name, deflated, crc32, packed, bytes }: ZipEntry): Buffer {
  const header = Buffer.alloc(headerBytes)
  header.writeUInt32LE(0x04034b50, 0)
  writeShorts(header, 4, [20, flags, deflated ? 8 : 0, 0, date])
  writeLongs(header, 14, [crc32, packed, bytes])
  writeShorts(header, 26, [name.length, 0])
  return Buffer.concat([header, Buffer.from(name, 'latin1')])
}

function recordOf({ name, deflated, crc32, packed, bytes }: ZipEntry, offset: number): Buffer {
  const record = Buffer.alloc(recordBytes)
  record.writeUInt32LE(0x02014b50, 0)
  writeShorts(record, 4, [madeBy, 20, flags, deflated ? 8 : 0, 0, date])
  writeLongs(record, 16, [crc32, packed, bytes])
  writeShorts(record, 28, [name.length, 0, 0, 0, 0])
  writeLongs(record, 38, [attributes, offset])
  return Buffer.concat([record, Buffer.from(name, 'latin1')])
}

function endOf(count: number, length: number, offset: number): Buffer {
  const end = Buffer.alloc(endBytes)
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
