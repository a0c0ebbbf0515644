// Encryption at rest of secrets that are read again (docs/design/platform.md §5): AES-256-GCM with a key derived from the
// encryption key. A sealed secret names its key and is bound to its context, such as a column of one organization.
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { keyMissing } from './encryption-key.js'

export interface Sealer {
  /** Seals a secret for a context, such as `subject_key org_1`. Null without a key. */
  readonly seal: (context: string, secret: Uint8Array) => string | null
  /** Opens a secret of this context. Throws ENCRYPTION_KEY_INVALID for an unknown key, and Error for an altered secret. */
  readonly open: (context: string, sealed: string) => Buffer
  /** True if the first key sealed it. */
  readonly isCurrent: (sealed: string) => boolean
  /** The ids of all keys. */
  readonly key_ids: readonly string[]
}

const version = 'svc.seal/1'
const [nonceBytes, tagBytes] = [12, 16]

/** `keys`: the first seals, all open. */
export function createSealer(keys: readonly Uint8Array[]): Sealer {
  const known = keys.map((key) => ({ id: derive(key, 'id', 6).toString('hex'), key: derive(key, 'key', 32) }))
  const [first] = known
  return {
    key_ids: known.map(({ id }) => id),
    isCurrent: (sealed) => first !== undefined && sealed.startsWith(`${version} ${first.id} `),
    seal: (context, secret) => {
      if (first === undefined) return null
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv('aes-256-gcm', first.key, nonce).setAAD(Buffer.from(context))
      const box = Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
      return `${version} ${first.id} ${box.toString('base64url')}`
    },
    open: (context, sealed) => {
      const [format, id, text = ''] = sealed.split(' ')
      if (format !== version) throw new Error('the text is not a sealed secret')
      const found = known.find((one) => one.id === id)
      if (found === undefined) throw keyMissing([String(id)])
      const box = Buffer.from(text, 'base64url')
      if (box.length < nonceBytes + tagBytes) throw new Error('the text is not a sealed secret')
      const opening = createDecipheriv('aes-256-gcm', found.key, box.subarray(0, nonceBytes))
      opening.setAAD(Buffer.from(context)).setAuthTag(box.subarray(-tagBytes))
      return Buffer.concat([opening.update(box.subarray(nonceBytes, -tagBytes)), opening.final()])
    },
  }
}

function derive(key: Uint8Array, what: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `${version} ${what}`, length))
}
