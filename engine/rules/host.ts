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

/** Whether the host is the allowed host or a subdomain of it. An address has no subdomains. */
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

function absolute(text: string): string {
  if (/^[\\/]{2}/.test(text)) return `http://${text.slice(2)}`
  // `localhost:8080` looks like a scheme, but is a host and a port.
  const port = /^[^/?#\\@:]+:\d{1,5}(?:[/?#\\]|$)/.test(text)
  return !port && /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? text : `http://${text}`
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
  return host === '' ? null : host
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
