// A file of a bundle while it is written: compressed to disk in a stream; content and compressed bytes are hashed.
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { crc32, createDeflateRaw } from 'node:zlib'
import type { ZipEntry } from '@svc/proof'
import type { BundleManifest } from '@svc/schemas'

export interface PackedFile {
  /** Resolves when the stream can take more. */
  readonly write: (content: string | Uint8Array) => Promise<void>
  readonly finish: () => Promise<Packed>
}

export interface Packed {
  readonly path: string
  readonly entry: ZipEntry
  readonly listed: BundleManifest['files'][number]
}

export function packedFile(path: string, name: string): PackedFile {
  const [content, packed] = [createHash('sha256'), createHash('sha256')]
  const count = { bytes: 0, packed: 0, crc32: 0 }
  const deflate = createDeflateRaw({ chunkSize: 64 * 1024 })
  const measured = async function* (chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      packed.update(chunk)
      count.packed += chunk.length
      yield chunk
    }
  }
  const done = pipeline(deflate, measured, createWriteStream(path, { mode: 0o600 }))
  // `write` and `finish` report the error; this prevents an unhandled rejection before them.
  done.catch(() => undefined)
  return {
    write: async (given) => {
      const bytes = typeof given === 'string' ? Buffer.from(given) : given
      content.update(bytes)
      count.bytes += bytes.length
      count.crc32 = crc32(bytes, count.crc32)
      if (!deflate.write(bytes)) await Promise.race([once(deflate, 'drain'), done])
    },
    finish: async () => {
      deflate.end()
      await done
      const { bytes, packed: size } = count
      const hashes = { sha256: content.digest('hex'), packed_sha256: packed.digest('hex') }
      return {
        path,
        entry: { name, deflated: true, crc32: count.crc32, packed: size, bytes },
        listed: { name, bytes, packed: size, ...hashes },
      }
    },
  }
}
