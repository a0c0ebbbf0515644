// Reads the host that a text names as a browser does (WHATWG URL), so that no spelling of it is missed.

/** `path`: the text names a file, not a host; null: it cannot be read. */
export type HostReading = { readonly kind: 'path' } | { readonly kind: 'host'; readonly host: string } | null

/** A host in lower case that is not an address. Most hosts in steps are; parsing a URL costs twenty times as much. */
const plainHost = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/

/** Longer text is not an address, and normalizing it takes quadratic time. */
const maxLength = 8192
/** Database drivers accept lists of hosts where the standard reads one. */
const severalHosts = /[,;]/

/** Reads a URL, a `host:port` or a bare host; leaves out userinfo, port and path, and lowers the case of the host. */
export function readHost(text: string): HostReading {
  if (plainHost.test(text) && !text.includes('xn--')) return { kind: 'host', host: text }
  const seen = trimmed(text)
  if (isPath(seen)) return { kind: 'path' }
  if (seen.length > maxLength) return null
  const url = absolute(seen)
  if (url !== seen && namesSeveral(url.slice('http://'.length))) return null
  const host = hostOf(url)
  return host === null || severalHosts.test(host) ? null : { kind: 'host', host }
}

/**
 * The hosts that a text may mean. A text with an at sign and without a scheme is a mail address, whose domain stands after the
 * last one; where a host could end before it, that host counts as well, because readers of addresses and of links differ. `file:` and
 * a drive letter can begin an address too.
 */
export function readHosts(text: string): readonly HostReading[] {
  const seen = trimmed(text)
  const at = lastAt(seen)
  if (at === -1 || isAbsoluteFile(seen) || (hasScheme(seen) && !isPath(seen))) return [readHost(text)]
  const local = seen.slice(0, at)
  const mail = mailHost(seen, local)
  return /[\\/?#]/.test(local) && !isPath(seen) ? [mail, readHost(text)] : [mail]
}

/** The wide and the small at sign are normalized to the usual one. */
function lastAt(text: string): number {
  return Math.max(text.lastIndexOf('@'), text.lastIndexOf('\uFF20'), text.lastIndexOf('\uFE6B'))
}

function mailHost(text: string, local: string): HostReading {
  if (text.length > maxLength || local === '' || /[,;\s@\uFF20\uFE6B]/.test(local)) return null
  const host = hostOf(`http://${text.slice(local.length + 1)}`)
  return host === null || severalHosts.test(host) ? null : { kind: 'host', host }
}

/** True if the host is the allowed host or a subdomain of it. An address has no subdomains. */
export function isUnder(host: string, allowed: string): boolean {
  return host === allowed || (host.endsWith(`.${allowed}`) && !isAddress(allowed))
}

/** The text without what the URL parser drops first: tabs and line breaks anywhere, control characters and spaces around. */
function trimmed(text: string): string {
  const kept = text.replace(/[\t\n\r]/g, '')
  let start = 0
  let end = kept.length
  // Not a regular expression: it would start again at each space inside.
  while (start < end && kept.charCodeAt(start) <= 0x20) start += 1
  while (end > start && kept.charCodeAt(end - 1) <= 0x20) end -= 1
  return kept.slice(start, end)
}

/** One slash, a dot or two and a slash, `~`, a drive letter, or `file:`; two slashes of any kind begin a host. */
function isPath(text: string): boolean {
  return /^(\/(?![\\/])|\.{1,2}\/|~|[A-Za-z]:(?:[\\/]|$)|file:)/i.test(text)
}

/** `file:///`, whose colon and slashes no program reads as a part of an address. */
function isAbsoluteFile(text: string): boolean {
  return /^file:[\\/]{3}/i.test(text)
}

function absolute(text: string): string {
  if (/^[\\/]{2}/.test(text)) return `http://${text.slice(2)}`
  return hasScheme(text) ? text : `http://${text}`
}

/** `localhost:8080` looks like a scheme, but is a host and a port. */
function hasScheme(text: string): boolean {
  const port = /^[^/?#\\@:]+:\d{1,5}(?:[/?#\\]|$)/.test(text)
  return !port && /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)
}

/** A list of mail addresses reads as userinfo up to the last `@`, which would hide the hosts of all but the last address. */
function namesSeveral(text: string): boolean {
  const end = text.search(/[\\/?#]/)
  const authority = end === -1 ? text : text.slice(0, end)
  return /[,;\s@]/.test(authority.slice(0, Math.max(authority.lastIndexOf('@'), 0)))
}

function hostOf(url: string): string | null {
  const parsed = parse(url)
  if (parsed === null || parsed.hostname === '') return null
  // The parser lowers the case of hosts for the schemes of the web only; so every host is read with `http`.
  const folded = parse(`http://${parsed.hostname}`)?.hostname ?? ''
  const host = folded.endsWith('.') ? folded.slice(0, -1) : folded
  return host === '' || !isReadable(host) ? null : host
}

/** False for a label such as `xn--`, which names nothing: Node.js 24 checks such labels only beside one that is not ASCII. */
function isReadable(host: string): boolean {
  return !host.includes('xn--') || parse(`http://${host}.\u00e9`) !== null
}

function parse(url: string): URL | null {
  try {
    return new URL(url)
  } catch {
    return null
  }
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^\d+(\.\d+){3}$/.test(host)
}
