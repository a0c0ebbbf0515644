// Addresses as accounts are known by them, and as mailboxes are.
import { domainToASCII } from 'node:url'

/** An address as accounts are known by it: however its domain is written, it is one. */
export function addressOf(email: string): string {
  const [local = '', domain = ''] = email.trim().toLowerCase().split('@')
  const known = domainToASCII(domain.replace(/\.$/, ''))
  return `${local}@${known === '' ? domain : known}`
}

/** An address as its mailbox is: what follows a plus sign leads into the same one. */
export function mailboxOf(email: string): string {
  return addressOf(email).replace(/\+[^@]*/, '')
}
