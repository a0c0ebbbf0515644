import { createHash } from 'node:crypto'

/** SHA-256 of a whole secret, prefix included: the only form in which links, tokens and API keys are stored. */
export function secretHash(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
