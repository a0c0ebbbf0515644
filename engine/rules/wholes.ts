// Addresses, hosts and links in a text, as wholes: `connor@example.org` is not `sarah.connor@example.org`, and a part of a link is
// another link.
import { bare } from './value-parts.js'
import { composed } from './words.js'

const between = /[\s"'<>`|,;()[\]{}\u2018\u2019\u201c\u201d\u00ab\u00bb]+/u
const hasSign = /@|:\/\/|[\p{L}\p{N}-]\.\p{L}/u
const hasDot = /[\p{L}\p{N}-]\.\p{L}/u
const scheme = /[a-z][a-z0-9+.-]*:\/\//

/** The wholes that a text gives: its links with and without their scheme, its addresses, and its hosts. */
export function wholesIn(text: string): string[] {
  if (!hasSign.test(text)) return []
  const found: string[] = []
  for (const token of tokensIn(text)) {
    found.push(keyOf(token))
    const link = scheme.exec(token)
    if (link !== null) found.push(keyOf(token.slice(link.index)), keyOf(token.slice(link.index + link[0].length)))
    for (const piece of token.split(/[/?&=:#\\]+/)) {
      if (!hasSign.test(piece)) continue
      found.push(keyOf(piece))
      if (piece.includes('@')) found.push(keyOf(piece.slice(piece.lastIndexOf('@') + 1)))
    }
  }
  return found
}

/** The wholes that a value is made of. A path is not one of them. */
export function wholesOf(value: string): readonly string[] {
  if (!hasSign.test(value)) return none
  return tokensIn(value)
    .filter((token) => /@|:\/\//.test(token) || hasDot.test(token.split(/[/?#:\\]/, 1)[0] as string))
    .map(keyOf)
}

const none: readonly string[] = []

function tokensIn(text: string): string[] {
  const tokens = composed(text).toLowerCase().split(between)
  return tokens.filter((token) => hasSign.test(token))
}

/** Without the punctuation around it, but with what an address can begin with. A link keeps that it has a scheme. */
function keyOf(token: string): string {
  const own = token.replace(new RegExp(`^${scheme.source}`), '//')
  if (own.startsWith('//')) return `//${bare(own)}`
  return own.includes('@') ? own.replace(/^[^\p{L}\p{N}_+-]+/u, '').replace(/[^\p{L}\p{N}]+$/u, '') : bare(own)
}
