// The signed-in person of a browser, and the fields of its forms.

import express, { type Request } from 'express'
import { PlatformError } from '../errors.js'
import { networkOf } from '../http/client.js'
import type { PersonPrincipal } from '../http/principal.js'
import { byPerson } from '../http/route.js'
import type { PageParts } from './parts.js'

export interface Visitor {
  readonly person: PersonPrincipal
  readonly email: string
}

/** The signed-in person; null without one. With `csrf` (the token that a form sent) it must be valid as well. */
export async function visitorOf(
  { authenticate }: PageParts,
  request: Request,
  csrf: string | null,
): Promise<Visitor | null> {
  const { cookie } = request.headers
  const network = networkOf(request)
  const sender = { authorization: undefined, cookie, csrf: csrf ?? undefined, changes: csrf !== null, network }
  const person = await authenticate(sender, byPerson).catch(notSignedIn)
  return person?.kind === 'person' ? { person, email: person.email } : null
}

/** Without a valid credential the pages explain how to sign in. */
function notSignedIn(error: unknown): null {
  if (error instanceof PlatformError && ['UNAUTHENTICATED', 'FORBIDDEN'].includes(error.code)) return null
  throw error
}

export const readForm = express.urlencoded({ extended: false, limit: 10_000, parameterLimit: 10 })

/** The text fields of a form. */
export function formOf({ body }: Request): Readonly<Record<string, string>> {
  const fields = Object.entries((body ?? {}) as Record<string, unknown>)
  return Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string'))
}

/** The addresses of the pages of a workspace, with their queries. */
const ownPage =
  /^\/(?!account|auth|api|sign-in|device|invitation|assets|theme)(?:[a-z]+(?:\/(?!\.)[A-Za-z0-9._~%:-]{1,300}){0,3})?(?:\?[A-Za-z0-9._~%=&+,:-]{0,1500})?$/

/** The page that follows the sign-in; '' for the usual one. Forms and links can hold any text: others are ignored. */
export function returnIn({ return_to }: Readonly<Record<string, unknown>>): string {
  return typeof return_to === 'string' && ownPage.test(return_to) && !return_to.includes('..') ? return_to : ''
}

/** The address of the sign-in that leads back to this page. */
export function signInAddress(return_to: string): string {
  return return_to === '' ? '/sign-in' : `/sign-in?return_to=${encodeURIComponent(return_to)}`
}

/** The secret of a link; null for a missing or incomplete one. */
export function tokenIn({ token }: Readonly<Record<string, unknown>>): string | null {
  return typeof token === 'string' && /^[A-Za-z0-9_-]{20,200}$/.test(token) ? token : null
}
