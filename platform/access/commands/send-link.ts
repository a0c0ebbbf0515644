// Sends a sign-in link. The mail is the same for addresses with and without an account.

import { randomBytes } from 'node:crypto'
import { type Database, withUnscopedTransaction } from '../../db/db.js'
import { addressOf } from '../../mail/address.js'
import type { AccessParts } from '../parts.js'
import { insertLinkUnscoped } from '../store/sessions.js'

const linkTimeoutMs = 15 * 60_000

/** Creates a link that works once, on the platform at `url`; `now` is ms since 1970. */
export async function makeLink(db: Database, now: number, url: string, email: string): Promise<string> {
  const secret = randomBytes(32).toString('base64url')
  await withUnscopedTransaction(db, (tx) =>
    insertLinkUnscoped(tx, now, { secret, email: addressOf(email), until: now + linkTimeoutMs }),
  )
  return `${url}/auth/magic-link?token=${secret}`
}

/** Sends a new link to the address. `return_to`: the path of the page that follows the sign-in; '' for the usual one. */
export async function sendLink({ db, clock, url, mailer }: AccessParts, email: string, return_to = ''): Promise<void> {
  const made = await makeLink(db, clock(), url(), email)
  const link = return_to === '' ? made : `${made}&return_to=${encodeURIComponent(return_to)}`
  await mailer.send({ to: addressOf(email), name: 'sign_in', values: { link } })
}
