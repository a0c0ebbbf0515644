// Addresses of accounts and of mailboxes. Every comparison uses the normalised form, so that two spellings are one account.
import { domainToASCII } from 'node:url'
import { invalid } from '../errors.js'

/** In octets of the normalised form (RFC 5321 §4.5.3.1.3, without the angle brackets). */
const maxLength = 254
/** White space, what mail syntax reserves (RFC 5322 §3.2.3), and every code point that shows as nothing or as something else. */
const forbidden = /[\s<>()[\],;:\\"\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/u
const domainName = /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/

/**
 * The normalised form: NFKC (UAX 15), lower case, the domain in ASCII (UTS 46) without its final dot. Null for a text that is
 * not an address, or that shows as another one.
 */
export function parseAddress(text: string): string | null {
  const [local = '', domain = '', ...rest] = compared(text.trim()).split('@')
  if (local === '' || rest.length > 0 || forbidden.test(text.trim()) || forbidden.test(local + domain)) return null
  const name = domain.replace(/\.$/, '')
  const ascii = domainToASCII(name)
  const address = `${local}@${ascii}`
  if (!domainName.test(ascii) || name.includes('%') || Buffer.byteLength(address) > maxLength) return null
  // A short form of a network address, such as `127.1`, would name another host than it shows.
  return /^[\d.x]+$/.test(ascii) && ascii !== name ? null : address
}

/** Lower case can bring a letter out of NFKC, so the form is applied again. */
function compared(text: string): string {
  return text.normalize('NFKC').toLowerCase().normalize('NFKC')
}

/** The normalised form. Throws INVALID, naming the field `email`, for a text that is not an address. */
export function addressOf(email: string): string {
  const address = parseAddress(email)
  if (address !== null) return address
  throw invalid([
    { path: 'email', message: 'must be an address such as mia@example.org, without invisible characters' },
  ])
}

/** The mailbox of an address: a part that follows a plus sign leads to the same one. Throws as `addressOf` does. */
export function mailboxOf(email: string): string {
  return addressOf(email).replace(/\+[^@]*/, '')
}
