// HMAC-SHA256 of short texts. Verifying a log is mostly this: two hashes in one go each take a third of the time that an
// HMAC object of the runtime does.
import { createHmac, hash } from 'node:crypto'

const blockBytes = 64
const keyBytes = 32
const hashBytes = 32
/** Longer texts go the runtime's way; there the difference is small. */
const longestText = 4096

// The second half of each key block is padding for ever, as keys have 32 bytes.
const inner = Buffer.alloc(blockBytes + 3 * longestText, 0x36)
const outer = Buffer.alloc(blockBytes + hashBytes, 0x5c)

/** HMAC-SHA256 (RFC 2104) of a text in UTF-8, lower-case hex. The key is used as it is. */
export function hmacOfText(key: Uint8Array, text: string): string {
  if (key.length !== keyBytes || text.length > longestText) return createHmac('sha256', key).update(text).digest('hex')
  for (let at = 0; at < keyBytes; at++) {
    const byte = key[at] as number
    inner[at] = byte ^ 0x36
    outer[at] = byte ^ 0x5c
  }
  const end = blockBytes + inner.write(text, blockBytes)
  outer.write(hash('sha256', inner.subarray(0, end)), blockBytes, 'hex')
  return hash('sha256', outer)
}
