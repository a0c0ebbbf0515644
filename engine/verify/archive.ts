// The zip of a bundle on disk: read in pieces, and only if every byte of it stands where it must.
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { crc32, createInflateRaw, type InflateRaw } from 'node:zlib'
import { contentOffsets, directoryOffset, readDirectory, type ZipEntry, zipLayout } from '../log/zip.js'

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

/** Opens a bundle. Throws Unreadable when it is no zip, or one that was not written by the makers of bundles. */
export async function openArchive(path: string): Promise<Archive> {
  const file = await open(path, 'r').catch((error: unknown) => {
    throw new Unreadable('not_a_bundle', null, error instanceof Error ? error.message : String(error))
  })
  try {
    const entries = await checkedEntries(file)
    const offsets = contentOffsets(entries)
    const find = (name: string) => {
      const index = entries.findIndex((entry) => entry.name === name)
      const entry = entries[index]
      if (entry === undefined) throw new Unreadable('not_a_bundle', name, 'the file is not in the bundle')
      return { entry, start: offsets[index] as number }
    }
    const packed = ({ entry, start }: ReturnType<typeof find>) =>
      entry.packed === 0 ? [] : createReadStream(path, { start, end: start + entry.packed - 1 })
    const content = (name: string) => {
      const found = find(name)
      return contentOf(found.entry, packed(found))
    }
    return {
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

async function checkedEntries(file: FileHandle): Promise<ZipEntry[]> {
  const { size } = await file.stat()
  const isJson = (await bytesAt(file, 0, 1)).toString() === '{'
  const what = isJson
    ? 'the file is JSON: an error was saved instead of a bundle?'
    : 'the file is no zip as bundles are written: its end is missing, or it was unpacked and packed again'
  const notZip = new Unreadable('not_a_bundle', null, what)
  if (size < endSize) throw notZip
  const at = directoryOffset(await bytesAt(file, size - endSize, endSize), size)
  if (at === null || size - at > largestDirectory) throw notZip
  const directory = await bytesAt(file, at, size - at)
  const entries = readDirectory(directory)
  if (entries === null || entries.length === 0) throw notZip
  const layout = layoutOf(entries)
  for (const part of [...layout.headers, layout.directory]) {
    const found = await bytesAt(file, part.offset, part.bytes.length)
    if (Buffer.compare(found, part.bytes) !== 0)
      throw new Unreadable(
        'bytes_altered',
        `byte ${part.offset}`,
        'the zip is not as it was written: its headers differ',
      )
  }
  if (layout.size !== size)
    throw new Unreadable('bytes_altered', null, 'the zip has more in it than its directory says')
  return entries
}

function layoutOf(entries: readonly ZipEntry[]) {
  try {
    return zipLayout(entries)
  } catch (error) {
    throw new Unreadable('bytes_altered', null, error instanceof Error ? error.message : String(error))
  }
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
