// Mail addresses in a word, with the whole local part: a part of it is the address of another person.
import { bare } from './value-parts.js'

export interface Address {
  /** In lower case, with the path or port that follows it. */
  readonly whole: string
  /** Texts that a reader of the word may mistake for the address. */
  readonly readings: readonly string[]
  readonly domain: string
}

const domainEnd = /[^\p{L}\p{N}\p{M}._-]/u
/** Outside quotes, a local part has none of these; it has every other sign of RFC 5321 (`atext`). */
const localStart = /[@,;:()[\]\\]/
const path = /^[:/?#\\][^,;'`|()[\]{}@]*/
const emphasis = /^[*_~`'|{/]+/
const mirrored: Readonly<Record<string, string>> = { '{': '}' }

/** The addresses of a word in lower case, which holds no spaces and no quotation marks. */
export function addressesIn(word: string): Address[] {
  const found: Address[] = []
  let from = 0
  for (let at = word.indexOf('@'); at !== -1; at = word.indexOf('@', from)) {
    const end = endOfDomain(word, at)
    const written = word.slice(startOfLocal(word, from, at), at)
    const local = unwrapped(
      from === 0 ? written : written.replace(/^[^\p{L}\p{N}_+-]+/u, ''),
      word.slice(end, end + 64),
    )
    const tail = tailAt(word, end)
    const address = `${local}${word.slice(at, end)}`
    const readings = [address, `${address}${tail}`]
    // A list mark without a space after it, which few addresses begin with.
    if (local.startsWith('-')) readings.push(address.replace(/^-+/, ''))
    found.push({ whole: `${address}${tail}`, readings, domain: address.slice(address.lastIndexOf('@') + 1) })
    from = Math.max(end + tail.length, at + 1)
  }
  return found
}

function startOfLocal(word: string, from: number, at: number): number {
  let start = at
  while (start > from && !localStart.test(word[start - 1] as string)) start--
  while (start < at && word[start] === '.') start++
  return start
}

/** Behind the last letter or digit of the domain. An at sign right after a domain leads to another one of the same address. */
function endOfDomain(word: string, at: number): number {
  let end = at
  while (word[end] === '@') {
    const rest = word.slice(end + 1).search(domainEnd)
    end = rest === -1 ? word.length : end + 1 + rest
  }
  while (end > at + 1 && '._-'.includes(word[end - 1] as string)) end--
  return end
}

/** The local part without signs of emphasis or quotation that stand around the whole address. */
function unwrapped(local: string, after: string): string {
  const signs = emphasis.exec(local)?.[0] ?? ''
  const closing = [...signs].reverse().map((sign) => mirrored[sign] ?? sign)
  return signs !== '' && after.startsWith(closing.join('')) ? local.slice(signs.length) : local
}

/** The path or port behind a domain, without punctuation at its end; text before another at sign is not one. */
function tailAt(word: string, end: number): string {
  const tail = path.exec(word.slice(end))?.[0] ?? ''
  return word[end + tail.length] === '@' ? '' : bare(`x${tail}`).slice(1)
}
