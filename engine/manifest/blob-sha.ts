import { createHash } from 'node:crypto'

/** Git's name for a file with these bytes: SHA-1 of a header and the bytes. */
export function blobSha(bytes: Uint8Array): string {
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}
