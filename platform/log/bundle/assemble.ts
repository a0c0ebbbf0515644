// Assembles the files of a bundle into a zip with a signed manifest.
import { createReadStream, createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { crc32 } from 'node:zlib'
import { bundleFiles, sha256Hex, type ZipEntry, zipLayout } from '@svc/proof'
import type { BundleManifest } from '@svc/schemas'
import { PlatformError } from '../../errors.js'
import type { Packed } from './packed-file.js'
import type { Plan } from './plan.js'

/** Signs the SHA-256 of a manifest (hex) with the keys of the log; `keys` names them. */
export type SignManifest = (
  origin: string,
  sha256: string,
) => { readonly note: string; readonly keys: readonly string[] }

/** Writes the zip into the folder, deletes the packed files and returns the path. Rejects with TOO_LARGE. */
export async function assemble(
  signManifest: SignManifest,
  plan: Plan,
  packed: readonly Packed[],
  folder: string,
): Promise<string> {
  const { keys } = signManifest(plan.origin, sha256Hex(''))
  const manifest = manifestText(plan, packed, keys)
  const small = [
    { name: bundleFiles.manifest, bytes: Buffer.from(manifest) },
    { name: bundleFiles.signature, bytes: Buffer.from(signManifest(plan.origin, sha256Hex(manifest)).note) },
  ]
  const stored = small.map(({ name, bytes }): ZipEntry => {
    return { name, deflated: false, crc32: crc32(bytes), packed: bytes.length, bytes: bytes.length }
  })
  const { headers, directory } = layoutOf([...packed.map(({ entry }) => entry), ...stored])
  const contents = [...packed.map((file) => file.path), ...small.map(({ bytes }) => bytes)]
  const path = join(folder, 'bundle.zip')
  await pipeline(
    async function* () {
      for (const [at, header] of headers.entries()) {
        yield header.bytes
        const content = contents[at]
        if (typeof content === 'string') yield* createReadStream(content)
        else if (content !== undefined) yield content
      }
      yield directory.bytes
    },
    createWriteStream(path, { mode: 0o600 }),
  )
  for (const file of packed) await rm(file.path, { force: true })
  return path
}

function manifestText(plan: Plan, packed: readonly Packed[], keys: readonly string[]): string {
  const { origin, org_id, made_at, workspace, period, entries, records, checkpoint } = plan
  const { size, root } = checkpoint
  const manifest: BundleManifest = {
    v: 'svc.bundle/1',
    origin,
    org_id,
    made_at,
    period,
    entries,
    records,
    checkpoint: { size, root },
    ...(workspace !== undefined && { workspace }),
    keys: [...keys],
    files: packed.map(({ listed }) => listed),
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}

function layoutOf(entries: readonly ZipEntry[]) {
  try {
    return zipLayout(entries)
  } catch (error) {
    throw new PlatformError('TOO_LARGE', 'the bundle would be larger than 4 GiB: choose a shorter period', {
      cause: error,
    })
  }
}
