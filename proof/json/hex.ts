// Bytes and hashes as lower-case hex.
import { hash } from 'node:crypto'

/** The bytes as lower-case hex. */
export function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

/** The bytes of a hex text that is known to be valid. */
export function bytesOfHex(text: string): Buffer {
  return Buffer.from(text, 'hex')
}

/** SHA-256 in hex; a text is hashed as UTF-8. */
export function sha256Hex(data: string | Uint8Array): string {
  return hash('sha256', data)
}
