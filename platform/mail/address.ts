// Addresses of accounts and mailboxes. All comparisons use the normalized form, so that two spellings are one account.
import { domainToASCII } from 'node:url'
import { invalid } from '../errors.js'

/** In octets of the normalized form (RFC 5321 §4.5.3.1.3, without the angle brackets). */
const maxBytes = 254
/** White space, characters that mail syntax reserves (RFC 5322 §3.2.3), and code points that are invisible or change the display. */
const forbidden = /[\s<>()[\],;:\\"\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u
const domainName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/**
 * The normalized form: NFKC (UAX 15), lower case, the domain in ASCII (UTS 46) without its final dot. Null for an invalid
 * address, and for a text that is displayed as another address.
 */
export function parseAddress(text: string): string | null {
  const [local = '', domain = '', ...rest] = folded(text.trim()).split('@')
  if (local === '' || rest.length > 0 || forbidden.test(text.trim()) || forbidden.test(local + domain)) return null
  const name = domain.replace(/\.$/, '')
  const ascii = domainToASCII(name)
  const address = `${local}@${ascii}`
  // Node.js 24 checks a label such as `xn--zz` only beside one that is not ASCII.
  if (ascii.includes('xn--') && domainToASCII(`${name}.\u00e9`) === '') return null
  if (!domainName.test(ascii) || name.includes('%') || Buffer.byteLength(address) > maxBytes) return null
  // A short form of a network address, such as `127.1`, names another host than it displays.
  return /^[\d.x]+$/.test(ascii) && ascii !== name ? null : address
}

/** Lower case can undo NFKC for some letters, so NFKC is applied again. */
function folded(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** The normalized form. Throws INVALID for the field `email`. */
export function addressOf(email: string): string {
  const address = parseAddress(email)
  if (address !== null) return address
  throw invalid([
    { path: 'email', message: 'must be an address such as mia@example.org, without invisible characters' },
  ])
}

/** The mailbox of an address, without a part after a plus sign. Throws as `addressOf` does. */
export function mailboxOf(email: string): string {
  return addressOf(email).replace(/\+[^@]*/, '')
}
