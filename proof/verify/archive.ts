// The zip of a bundle on disk, read in pieces. Its container and its contents are judged apart.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { contentOffsets, directoryOffset, readDirectory, type ZipEntry, zipLayout } from '../bundle/zip.js'
import { areApart, contentStart, farthestEnd, listedEntries, zipEnd } from '../bundle/zip-read.js'

/** What is wrong with a bundle so that nothing further can be said of it. */
export class Unreadable extends Error {
  readonly code: string
  readonly where: string | null

  constructor(code: string, where: string | null, message: string) {
    super(message)
    this.code = code
    this.where = where
  }
}

export interface Archive {
  /** Whether the container is as makers of bundles write it, and not packed again by another program. */
  readonly is_issued: boolean
  readonly entries: readonly ZipEntry[]
  /** SHA-256 of an entry's bytes as they stand in the zip, hex. */
  readonly packedHash: (name: string) => Promise<string>
  /** SHA-256 of its content, hex; throws Unreadable as `content` does. */
  readonly contentHash: (name: string) => Promise<string>
  /** The content in pieces; throws Unreadable when it is not what the zip says. */
  readonly content: (name: string) => AsyncIterable<Buffer>
  readonly close: () => Promise<void>
}

/** Far more than the directory of a bundle. */
const largestDirectory = 64 * 1024
const endSize = 22

/** Opens a bundle, also one that was unpacked and packed again. Throws Unreadable when it is no zip. */
export async function openArchive(path: string): Promise<Archive> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new Unreadable('not_a_bundle', null, error instanceof Error ? error.message : String(error))
  })
  try {
    const { entries, is_issued } = await containerOf(file)
    const find = (name: string) => {
      const entry = entries.find((one) => one.name === name)
      if (entry === undefined) throw new Unreadable('not_a_bundle', name, 'the file is not in the bundle')
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
  /** Where its packed bytes begin. */
  readonly start: number
}

interface Container {
  readonly entries: readonly PlacedEntry[]
  /** Whether every byte of it, but for the contents, is as makers of bundles write it. */
  readonly is_issued: boolean
}

async function containerOf(file: FileHandle): Promise<Container> {
  const { size } = await file.stat()
  if ((await bytesAt(file, 0, 1)).toString() === '{')
    throw new Unreadable('not_a_bundle', null, 'the file is JSON: an error was saved instead of a bundle?')
  const issued = await issuedEntries(file, size)
  if (issued !== null) return { entries: issued, is_issued: true }
  return { entries: await repackedEntries(file, size), is_issued: false }
}

/** The members of a container that was written by a maker of bundles; null for any other. */
async function issuedEntries(file: FileHandle, size: number): Promise<PlacedEntry[] | null> {
  if (size < endSize) return null
  const at = directoryOffset(await bytesAt(file, size - endSize, endSize), size)
  if (at === null || size - at > largestDirectory) return null
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

/** The members of a zip that another program wrote. Throws Unreadable for what could be read in two ways. */
async function repackedEntries(file: FileHandle, size: number): Promise<PlacedEntry[]> {
  const wrong = (why: string) => new Unreadable('not_a_bundle', null, why)
  const tail = Math.min(size, farthestEnd)
  const end = zipEnd(await bytesAt(file, size - tail, tail), size)
  if (end === null || end.size > largestDirectory) throw wrong('the file is no zip, or its end is missing')
  const listed = listedEntries(await bytesAt(file, end.directory, end.size), end.count)
  if (typeof listed === 'string') throw wrong(`the file is no zip that is read here: ${listed}`)
  const placed: (PlacedEntry & { readonly header: number; readonly end: number })[] = []
  for (const entry of listed) {
    const start = contentStart(entry, await bytesAt(file, entry.header, 30 + entry.raw_name.length))
    if (start === null) throw wrong(`the header of \`${entry.name}\` contradicts the directory of the zip`)
    placed.push({ ...entry, start, end: start + entry.packed })
  }
  if (!areApart(placed, end.directory)) throw wrong('members of the zip overlap')
  return placed
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  const { bytesRead } = await file.read(buffer, 0, length, position)
  return buffer.subarray(0, bytesRead)
}

async function* contentOf(entry: ZipEntry, packed: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncIterable<Buffer> {
  const wrong = () => new Unreadable('bytes_altered', entry.name, 'the content is not what the zip says')
  let bytes = 0
  let sum = 0
  const unpacking = entry.deflated ? inflated(packed) : null
  try {
    for await (const chunk of unpacking ?? packed) {
      bytes += chunk.length
      if (bytes > entry.bytes) throw wrong()
      sum = crc32(chunk, sum)
      yield chunk
    }
  } catch (error) {
    throw /^Z_/.test(String((error as { code?: unknown }).code)) ? wrong() : error
  }
  // Nothing may stand behind what is unpacked.
  const isWhole = unpacking === null || unpacking.bytesWritten === entry.packed
  if (!isWhole || bytes !== entry.bytes || sum !== entry.crc32) throw wrong()
}

function inflated(packed: AsyncIterable<Buffer> | Iterable<Buffer>): InflateRaw {
  const inflate = createInflateRaw({ chunkSize: 64 * 1024 })
  // An error reaches whoever reads, through the stream itself.
  pipeline(packed, inflate, () => undefined)
  return inflate
}

/** A record may be long, but not without end. */
const longestLine = 32 * 1024 * 1024
const lineBreak = 0x0a

/** The lines of a text whose every line ends with a break. */
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
    if (length > longestLine) throw new Unreadable('not_a_bundle', name, 'a line is longer than any that is written')
  }
  if (rest.length > 0) throw new Unreadable('not_a_bundle', name, 'the last line does not end')
}

/** INVARIANT (every byte counts): nothing is read as something else than it is. */
function decoded(name: string, bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new Unreadable('not_a_bundle', name, 'a line is not UTF-8')
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
/** Far more than a manifest or a note. */
const longestText = 1024 * 1024

/** A small file as a whole. */
export async function textOf(name: string, content: AsyncIterable<Buffer>): Promise<string> {
  return decoded(name, await bytesOf(name, content, longestText))
}

/** A file that is kept in memory. */
export async function bytesOf(
  name: string,
  content: AsyncIterable<Buffer>,
  largest = 64 * 1024 * 1024,
): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of content) {
    length += chunk.length
    if (length > largest) throw new Unreadable('not_a_bundle', name, 'the file is larger than any that is written')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
