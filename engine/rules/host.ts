// Which host a text means, read as a browser would (WHATWG URL), so that no spelling of it slips through.

/** `path` means that the text names a file and no host; null that it cannot be read. */
export type HostReading = { readonly kind: 'path' } | { readonly kind: 'host'; readonly host: string } | null

/** Already folded and no address: most hosts in steps are, and parsing a URL costs twenty times as much. */
const plainHost = /^(?:[a-z0-9-]+\.)*[a-z][a-z0-9-]*$/

/** Longer ones are no addresses, and what looks for normal forms in them takes time that grows with the square. */
const longest = 8192
/** Database drivers take lists of hosts where the standard sees one. */
const severalHosts = /[,;]/

/** Reads a URL, a `host:port` or a bare host; userinfo, port and path are left out, the host is folded. */
export function readHost(text: string): HostReading {
  if (plainHost.test(text) && !text.includes('xn--')) return { kind: 'host', host: text }
  const seen = trimmed(text)
  if (isPath(seen)) return { kind: 'path' }
  if (seen.length > longest) return null
  const host = hostOf(absolute(seen))
  return host === null || severalHosts.test(host) ? null : { kind: 'host', host }
}

/** Whether the host is an allowed one or under it. Addresses are only ever themselves. */
export function isUnder(host: string, allowed: string): boolean {
  return host === allowed || (host.endsWith(`.${allowed}`) && !isAddress(allowed))
}

/** What the URL parser drops before it looks: tabs and line breaks anywhere, control characters and spaces around. */
function trimmed(text: string): string {
  const kept = text.replace(/[\t\n\r]/g, '')
  let start = 0
  let end = kept.length
  // By index: an expression that looks for spaces at the end starts anew at each space inside.
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
  // `localhost:8080` looks like a scheme and is none.
  const port = /^[^/?#\\@:]+:\d{1,5}(?:[/?#\\]|$)/.test(text)
  return !port && /^[A-Za-z][A-Za-z0-9+.-]*:/.test(text) ? text : `http://${text}`
}

function hostOf(url: string): string | null {
  const parsed = parse(url)
  if (parsed === null || parsed.hostname === '') return null
  // Only the schemes of the web fold their hosts; read as one of theirs, the others' do too.
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
