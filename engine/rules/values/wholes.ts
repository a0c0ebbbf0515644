// Addresses, hosts and links in a text, as wholes: `connor@example.org` is not `sarah.connor@example.org`, and a part of a link is
// another link.
import { addressesIn } from './addresses.js'
import { bare } from './value-parts.js'
import { composed } from './words.js'

/**
 * Between words: characters that neither an address nor a link contains, punctuation outside ASCII, and arrows. The hyphens, the
 * low line, the wide at sign and the five marks that names of hosts can contain (RFC 5892, appendix A) are parts of words.
 */
const between =
  /(?:[\s"<>\u2190-\u21ff\u2794-\u27be\u27f0-\u27ff\u2900-\u297f]|(?![\u00b7\u0375\u05f3\u05f4\u30fb\u2010\u2011\uff0d\uff3f\uff20\ufe6b])[^\0-\x7f\P{P}])+/u
const hasSign = /@|:\/\/|[\p{L}\p{N}-]\.\p{L}/u
const hasDot = /[\p{L}\p{N}-]\.\p{L}/u
/** Before a scheme, the sign of a list or a bracket: the link begins there. */
const beforeLink = /(?<=[,;|'()[\]{}`*])(?=[a-z][a-z0-9+.-]*:\/\/)/
/** A link without a scheme up to the end, because commas and brackets are legal in a path; else a host. */
const segment = /[^,;'`|()[\]{}]*[/?#].*|[^,;'`|()[\]{}]+/gs

/** The wholes that a text gives: its links with and without their scheme, its addresses, and its hosts. */
export function wholesIn(text: string): string[] {
  if (!hasSign.test(text)) return []
  const found: string[] = []
  for (const item of itemsIn(text)) {
    const link = linkStart(item)
    if (link === -1) addPlain(found, item)
    else addLink(found, item, link)
  }
  return found
}

function addLink(found: string[], item: string, start: number): void {
  const link = closed(item.slice(start))
  found.push(linkKey(closed(item)), linkKey(link), bare(link.slice(link.indexOf('://'))))
  for (const piece of item.split(/[/?&=:#\\,;]+/)) {
    if (!hasSign.test(piece)) continue
    if (!piece.includes('@')) found.push(bare(piece))
    for (const address of addressesIn(piece)) found.push(...address.readings, address.domain)
  }
}

function addPlain(found: string[], item: string): void {
  if (item.includes('@')) for (const { readings, domain } of addressesIn(item)) found.push(...readings, domain)
  for (const part of item.match(segment) ?? []) {
    if (!part.includes('@')) found.push(bare(closed(part)))
    for (const piece of part.split(/[/?&=:#\\,;'`|()[\]{}]+/))
      if (!piece.includes('@') && hasDot.test(piece)) found.push(bare(piece))
  }
}

/** The wholes that a value is made of. A path is not one of them. */
export function wholesOf(value: string): readonly string[] {
  if (!hasSign.test(value)) return none
  return itemsIn(value).flatMap((item) => {
    if (linkStart(item) !== -1) return linkKey(closed(item))
    const hosts = (item.match(segment) ?? []).filter(
      (part) => !part.includes('@') && hasDot.test(part.split(/[/?#:\\]/, 1)[0] as string),
    )
    return [...addressesIn(item).map(({ whole }) => whole), ...hosts.map((host) => bare(closed(host)))]
  })
}

const none: readonly string[] = []

/** The words of the text that can hold an address, a host or a link; a list of links is its links. */
function itemsIn(text: string): string[] {
  const words = plain(composed(text).toLowerCase()).split(between)
  return words.filter((word) => hasSign.test(word)).flatMap((word) => word.split(beforeLink))
}

/** With a link and its label, as chat programs write them, as two words; a full stop of another script inside a host is a dot. */
function plain(text: string): string {
  const words = text.includes('|') ? text.replaceAll(/<([^<>|\s]+)\|([^<>]*)>/g, '<$1> <$2>') : text
  return words.replaceAll(/(?<=[a-z0-9-])[\u3002\uff0e\uff61](?=[a-z0-9-])/g, '.')
}

/** The start of the first scheme; -1 without one. */
function linkStart(item: string): number {
  for (let end = item.indexOf('://'); end !== -1; end = item.indexOf('://', end + 1)) {
    let start = end
    while (start > 0 && /[a-z0-9+.-]/.test(item[start - 1] as string)) start--
    while (start < end && !/[a-z]/.test(item[start] as string)) start++
    if (start < end) return start
  }
  return -1
}

/** Without the punctuation around it. A link keeps that it has a scheme. */
function linkKey(item: string): string {
  return linkStart(item) === 0 ? `//${bare(item.slice(item.indexOf('://')))}` : bare(item)
}

const openings: Readonly<Record<string, string>> = { ')': '(', ']': '[', '}': '{' }

/** Up to a bracket that closes without having been opened, such as the one around the link, unless a letter or digit follows. */
function closed(link: string): string {
  const open: string[] = []
  for (let at = 0; at < link.length; at++) {
    const character = link[at] as string
    if ('([{'.includes(character)) open.push(character)
    else if (
      openings[character] !== undefined &&
      open.pop() !== openings[character] &&
      !isLetter.test(link[at + 1] ?? '')
    )
      return link.slice(0, at)
  }
  return link
}

const isLetter = /[\p{L}\p{N}]/u
