// The signature of a delivery: HMAC-SHA256 of the bytes of the body, which GitHub sends in `X-Hub-Signature-256`.
import { createHmac, timingSafeEqual } from 'node:crypto'

export type SignatureProblem = 'unsigned' | 'sha1_only' | 'unknown_algorithm' | 'malformed' | 'wrong'

/** The headers of a request, by name in lower case. */
export type Header = (name: string) => string | undefined

/** Why the signature proves nothing; null for a body that the holder of one of the secrets has sent. */
export function signatureProblem(secrets: readonly string[], raw: Uint8Array, header: Header): SignatureProblem | null {
  const sent = header('x-hub-signature-256')
  if (sent === undefined || sent === '') return header('x-hub-signature') === undefined ? 'unsigned' : 'sha1_only'
  if (!sent.startsWith('sha256=')) return 'unknown_algorithm'
  const digits = sent.slice('sha256='.length)
  if (!/^[0-9a-f]{64}$/.test(digits)) return 'malformed'
  const claimed = Buffer.from(digits, 'hex')
  // Every secret is tried, so that the time of an answer does not show which one matched.
  const matches = secrets.map((secret) => timingSafeEqual(createHmac('sha256', secret).update(raw).digest(), claimed))
  return matches.includes(true) ? null : 'wrong'
}
