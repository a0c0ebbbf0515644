// Secrets that must be read again are kept sealed (docs/design/platform.md §5): AES-256-GCM under a key that follows from the encryption
// key, with the name of that key beside it, and bound to the place they stand in.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { keyMissing } from './encryption-key.js'

export interface Sealer {
  /** Seals for one place, such as `subject_key org_1`. Null where there is no key to seal with. */
  readonly seal: (place: string, secret: Uint8Array) => string | null
  /** Opens what was sealed for this place. Throws ENCRYPTION_KEY_INVALID for another key's, Error for what was altered. */
  readonly open: (place: string, sealed: string) => Buffer
  /** Whether the first key has sealed it. */
  readonly isCurrent: (sealed: string) => boolean
  /** Names of the keys that can be opened. */
  readonly key_ids: readonly string[]
}

const version = 'svc.seal/1'
const [nonceBytes, tagBytes] = [12, 16]

/** `keys`: the first seals, all open. */
export function createSealer(keys: readonly Uint8Array[]): Sealer {
  const known = keys.map((key) => ({ id: derived(key, 'id', 6).toString('hex'), key: derived(key, 'key', 32) }))
  const [first] = known
  return {
    key_ids: known.map(({ id }) => id),
    isCurrent: (sealed) => first !== undefined && sealed.startsWith(`${version} ${first.id} `),
    seal: (place, secret) => {
      if (first === undefined) return null
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce).setAAD(Buffer.from(place))
      const box = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
      return `${version} ${first.id} ${box.toString('base64url')}`
    },
    open: (place, sealed) => {
      const [said, id, text = ''] = sealed.split(' ')
      if (said !== version) throw new Error('this was not sealed here')
      const found = known.find((one) => one.id === id)
      if (found === undefined) throw keyMissing([String(id)])
      const box = Buffer.from(text, 'base64url')
      if (box.length < nonceBytes + tagBytes) throw new Error('this was not sealed here')
      const opening = createDecipheriv('aes-256-gcm', found.key, box.subarray(0, nonceBytes))
      opening.setAAD(Buffer.from(place)).setAuthTag(box.subarray(-tagBytes))
      return Buffer.concat([opening.update(box.subarray(nonceBytes, -tagBytes)), opening.final()])
    },
  }
}

function derived(key: Uint8Array, what: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `${version} ${what}`, length))
}
