// Reads the zip of a bundle from disk in pieces. The container and its contents are verified separately.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { contentOffsets, directoryOffset, readDirectory, type ZipEntry, zipLayout } from '../bundle/zip.js'
import { areApart, contentStart, listedEntries, maxEndBytes, zipEnd } from '../bundle/zip-read.js'
import { BundleError } from './bundle-error.js'

export interface Archive {
  /** True if the container is byte for byte the issued one; false when another program packed it again. */
  readonly is_issued: boolean
  readonly entries: readonly ZipEntry[]
  /** SHA-256 of an entry's packed bytes, hex. */
  readonly packedHash: (name: string) => Promise<string>
  /** SHA-256 of its content, hex; throws BundleError as `content` does. */
  readonly contentHash: (name: string) => Promise<string>
  /** The content in pieces; throws BundleError when its size or CRC-32 is not that of the zip. */
  readonly content: (name: string) => AsyncIterable<Buffer>
  readonly close: () => Promise<void>
}

/** Far more than the directory of a bundle needs. */
const maxDirectoryBytes = 64 * 1024
const endBytes = 22

/** Opens a bundle, also one that was unpacked and packed again. Throws BundleError when it is not a valid zip. */
export async function openArchive(path: string): Promise<Archive> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new BundleError('not_a_bundle', null, error instanceof Error ? error.message : String(error))
  })
  try {
    const { entries, is_issued } = await containerOf(file)
    const find = (name: string) => {
      const entry = entries.find((candidate) => candidate.name === name)
      if (entry === undefined) throw new BundleError('not_a_bundle', name, 'the bundle does not contain this file')
      return entry
    }
    const packed = ({ packed: size, start }: PlacedEntry) =>
      size === 0 ? [] : createReadStream(path, { start, end: start + size - 1 })
    const content = (name: string) => {
      const entry = find(name)
      return contentOf(entry, packed(entry))
    }
    return {
      is_issued,
      entries,
      packedHash: (name) => hashOf(packed(find(name))),
      contentHash: (name) => hashOf(content(name)),
      content,
      close: () => file.close(),
    }
  } catch (error) {
    await file.close()
    throw error
  }
}

async function hashOf(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunks) hash.update(chunk)
  return hash.digest('hex')
}

interface PlacedEntry extends ZipEntry {
  /** Offset of its packed bytes. */
  readonly start: number
}

interface Container {
  readonly entries: readonly PlacedEntry[]
  /** True if every byte outside the contents is that of an issued bundle. */
  readonly is_issued: boolean
}

async function containerOf(file: FileHandle): Promise<Container> {
  const { size } = await file.stat()
  if ((await bytesAt(file, 0, 1)).toString() === '{')
    throw new BundleError(
      'not_a_bundle',
      null,
      'the file is JSON, not a zip: an error response may have been saved instead of a bundle',
    )
  const issued = await issuedEntries(file, size)
  if (issued !== null) return { entries: issued, is_issued: true }
  return { entries: await repackedEntries(file, size), is_issued: false }
}

/** The members of an issued container; null for any other. */
async function issuedEntries(file: FileHandle, size: number): Promise<PlacedEntry[] | null> {
  if (size < endBytes) return null
  const at = directoryOffset(await bytesAt(file, size - endBytes, endBytes), size)
  if (at === null || size - at > maxDirectoryBytes) return null
  const entries = readDirectory(await bytesAt(file, at, size - at))
  if (entries === null || entries.length === 0) return null
  const layout = layoutOf(entries)
  if (layout === null || layout.size !== size) return null
  for (const part of [...layout.headers, layout.directory])
    if (Buffer.compare(await bytesAt(file, part.offset, part.bytes.length), part.bytes) !== 0) return null
  const offsets = contentOffsets(entries)
  return entries.map((entry, index) => ({ ...entry, start: offsets[index] as number }))
}

function layoutOf(entries: readonly ZipEntry[]) {
  try {
    return zipLayout(entries)
  } catch {
    return null
  }
}

/** The members of a zip that another program wrote. Throws BundleError where two programs could read it differently. */
async function repackedEntries(file: FileHandle, size: number): Promise<PlacedEntry[]> {
  const invalid = (reason: string) => new BundleError('not_a_bundle', null, reason)
  const tail = Math.min(size, maxEndBytes)
  const end = zipEnd(await bytesAt(file, size - tail, tail), size)
  if (end === null || end.size > maxDirectoryBytes) throw invalid('the file is not a zip, or its end record is missing')
  const listed = listedEntries(await bytesAt(file, end.directory, end.size), end.count)
  if (typeof listed === 'string') throw invalid(`the zip is not accepted: ${listed}`)
  const placed: (PlacedEntry & { readonly header: number; readonly end: number })[] = []
  for (const entry of listed) {
    const start = contentStart(entry, await bytesAt(file, entry.header, 30 + entry.raw_name.length))
    if (start === null) throw invalid(`the header of \`${entry.name}\` contradicts the directory of the zip`)
    placed.push({ ...entry, start, end: start + entry.packed })
  }
  if (!areApart(placed, end.directory)) throw invalid('members of the zip overlap')
  return placed
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}

async function* contentOf(entry: ZipEntry, packed: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncIterable<Buffer> {
  const altered = () =>
    new BundleError('bytes_altered', entry.name, 'the content does not match its size and CRC-32 in the zip')
  let bytes = 0
  let sum = 0
  const unpacking = entry.deflated ? inflated(packed) : null
  try {
    for await (const chunk of unpacking ?? packed) {
      bytes += chunk.length
      if (bytes > entry.bytes) throw altered()
      sum = crc32(chunk, sum)
      yield chunk
    }
  } catch (error) {
    throw /^Z_/.test(String((error as { code?: unknown }).code)) ? altered() : error
  }
  // No bytes may follow the deflated content.
  const isWhole = unpacking === null || unpacking.bytesWritten === entry.packed
  if (!isWhole || bytes !== entry.bytes || sum !== entry.crc32) throw altered()
}

function inflated(packed: AsyncIterable<Buffer> | Iterable<Buffer>): InflateRaw {
  const inflate = createInflateRaw({ chunkSize: 64 * 1024 })
  // The reader of the stream gets its errors.
  pipeline(packed, inflate, () => undefined)
  return inflate
}

/** Far more than a record or a payload needs. */
const maxLineBytes = 32 * 1024 * 1024
const lineBreak = 0x0a

/** The lines of a text; the last one must end with a line break too. */
export async function* linesOf(name: string, content: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest: Buffer[] = []
  let length = 0
  for await (const chunk of content) {
    let start = 0
    for (let end = chunk.indexOf(lineBreak); end >= 0; end = chunk.indexOf(lineBreak, start)) {
      const own = chunk.subarray(start, end)
      yield decoded(name, rest.length === 0 ? own : Buffer.concat([...rest, own]))
      rest = []
      length = 0
      start = end + 1
    }
    if (start === chunk.length) continue
    rest.push(chunk.subarray(start))
    length += chunk.length - start
    if (length > maxLineBytes) throw new BundleError('not_a_bundle', name, 'a line is longer than 32 MiB')
  }
  if (rest.length > 0) throw new BundleError('not_a_bundle', name, 'the last line has no line break')
}

/** INVARIANT (every byte counts): no invalid byte is replaced, and a byte order mark is kept. */
function decoded(name: string, bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new BundleError('not_a_bundle', name, 'a line is not UTF-8')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Far more than a manifest or a note needs. */
const maxTextBytes = 1024 * 1024

/** A small file as a whole. */
export async function textOf(name: string, content: AsyncIterable<Buffer>): Promise<string> {
  return decoded(name, await bytesOf(name, content, maxTextBytes))
}

/** A file that is kept in memory. Throws BundleError when it is larger than `maxBytes`. */
export async function bytesOf(
  name: string,
  content: AsyncIterable<Buffer>,
  maxBytes = 64 * 1024 * 1024,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of content) {
    length += chunk.length
    if (length > maxBytes) throw new BundleError('not_a_bundle', name, `the file is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
