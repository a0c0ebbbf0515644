// Ed25519 public keys of small order: anyone can make valid signatures for them without a secret, so that they must not be
// trusted (RFC 8032 section 8.1; the eight points are those of libsodium's block list).

const p = 2n ** 255n - 19n
/** y of the points of order 8; x has either sign. */
const y8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n
const smallOrder = new Set([0n, 1n, p - 1n, y8, p - y8])

/** True if 32 bytes encode a point of small order; y may be unreduced, and x = 0 may have a sign. */
export function isSmallOrder(key: Uint8Array): boolean {
  const bytes = Buffer.from(key).reverse()
  const y = BigInt(`0x${bytes.toString('hex') || '0'}`) & (2n ** 255n - 1n)
  return key.length === 32 && smallOrder.has(y % p)
}

/** The problem of a written key, `name+id+key`, that is a point of small order; null for any other text. */
export function smallOrderProblem(written: string): string | null {
  const bytes = Buffer.from(written.split('+').slice(2).join('+'), 'base64')
  if (bytes.length !== 33 || !isSmallOrder(bytes.subarray(1))) return null
  return `the key \`${written.slice(0, 200)}\` is a point of small order, for which signatures need no secret: ask its holder for another key`
}
