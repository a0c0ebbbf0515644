// Makes a bundle in memory.
import { crc32, deflateRawSync } from 'node:zlib'
import type { BundleManifest } from '@svc/schemas'
import { bundleFiles, listedFiles, manifestStatement } from '../bundle/bundle.js'
import { type ZipEntry, zipLayout } from '../bundle/zip.js'
import { sha256Hex } from '../json/hex.js'
import { formatNote, formatVerifier, type Signer, signText } from '../notes/note.js'

export type BundleHead = Omit<BundleManifest, 'files' | 'keys' | 'v'>

/** The bundle of these files, signed by the signer. */
export function packBundle(head: BundleHead, contents: ReadonlyMap<string, Uint8Array>, signer: Signer): Buffer {
  const packed = listedFiles.map((name) => ({ name, content: contents.get(name) ?? Buffer.alloc(0) })).map(packedOf)
  const manifest: BundleManifest = {
    v: 'svc.bundle/1',
    ...head,
    keys: [formatVerifier(signer.verifier)],
    files: packed.map(({ entry: { name, bytes, packed: size }, bytes: own, content }) => {
      return { name, bytes, sha256: sha256Hex(content), packed: size, packed_sha256: sha256Hex(own) }
    }),
  }
  const text = `${JSON.stringify(manifest, null, 2)}\n`
  const statement = manifestStatement(head.origin, sha256Hex(text))
  const note = formatNote({ text: statement, signatures: [signText(statement, signer)] })
  const small = [storedOf(bundleFiles.manifest, text), storedOf(bundleFiles.signature, note)]
  const all = [...packed, ...small]
  const layout = zipLayout(all.map(({ entry }) => entry))
  const parts = all.flatMap(({ bytes }, at) => [layout.headers[at]?.bytes ?? Buffer.alloc(0), bytes])
  return Buffer.concat([...parts, layout.directory.bytes])
}

interface Packed {
  readonly entry: ZipEntry
  readonly bytes: Uint8Array
  readonly content: Uint8Array
}

function packedOf({ name, content }: { readonly name: string; readonly content: Uint8Array }): Packed {
  const bytes = deflateRawSync(content)
  const entry = { name, deflated: true, crc32: crc32(content), packed: bytes.length, bytes: content.length }
  return { entry, bytes, content }
}

function storedOf(name: string, text: string): Packed {
  const bytes = Buffer.from(text)
  const entry = { name, deflated: false, crc32: crc32(bytes), packed: bytes.length, bytes: bytes.length }
  return { entry, bytes, content: bytes }
}
