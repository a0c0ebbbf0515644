// Signed-in people, by links from their mailboxes, and the cookies of their browsers.
import type { Account, MemberList, Offer, SessionTokens } from '@svc/schemas'
import { expect } from 'vitest'
import type { Answer, TestPlatform } from '../server/platform.js'
import type { MailServer } from './mail.js'

export interface SignedIn {
  readonly id: string
  readonly email: string
  readonly token: string
  readonly refresh_token: string
  readonly org_id: string
  readonly call: <T = Record<string, unknown>>(method: string, path: string, body?: unknown) => Promise<Answer<T>>
  readonly me: () => Promise<Account>
}

export async function signedIn(platform: TestPlatform, mails: MailServer, email: string): Promise<SignedIn> {
  const asked = await platform.call('POST', '/auth/magic-link', { as: null, body: { email } })
  expect(asked.status).toBe(202)
  const body = { token: await mails.tokenFor(email) }
  const { status, body: tokens } = await platform.call<SessionTokens>('POST', '/auth/magic-link/verify', {
    as: null,
    body,
  })
  expect(status).toBe(200)
  const call = <T>(method: string, path: string, sent?: unknown) =>
    platform.call<T>(method, path, { as: tokens.access_token, ...(sent !== undefined && { body: sent }) })
  const me = async () => (await call<Account>('GET', '/auth/me')).body
  const { id, current_workspace } = await me()
  const { access_token, refresh_token } = tokens
  return { id, email, token: access_token, refresh_token, org_id: current_workspace ?? '', call, me }
}

/** Makes the guest a member with this role, by the necessary offers, and switches their session to the workspace. */
export async function join(
  owner: SignedIn,
  guest: SignedIn,
  org_id: string,
  role: 'admin' | 'member' | 'auditor',
): Promise<void> {
  const offered = async (body: object) => {
    const { status, body: offer } = await owner.call<Offer>('POST', `/auth/workspaces/${org_id}/offers`, body)
    expect([status, offer]).toEqual([201, expect.anything()])
    expect((await guest.call('POST', `/auth/offers/${offer.id}/accept`)).status).toBe(200)
  }
  await offered({ kind: 'invitation', email: guest.email, role: role === 'auditor' ? 'auditor' : 'member' })
  if (role === 'admin') await offered({ kind: 'admin', email: guest.email })
  expect((await guest.call('POST', `/auth/workspaces/${org_id}/switch`)).status).toBe(204)
}

/** The members of a workspace as pairs of address and role. */
export async function rolesIn(person: SignedIn, org_id: string): Promise<(readonly [string, string])[]> {
  const { body } = await person.call<MemberList>('GET', `/auth/workspaces/${org_id}/members`)
  return body.members.map(({ email, role }) => [email, role] as const)
}

/** The header `Cookie` of a browser that received this response. */
export function cookieOf(response: Response): string {
  return cookiesOf(response).join('; ')
}

/** The cookies of a response as `name=value`. */
export function cookiesOf(response: Response): string[] {
  return response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
}

/** The CSRF token in the forms of a page. */
export function csrfIn(page: string): string {
  return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
}

/** The CSRF token among the cookies of a browser. */
export function csrfOf(cookie: string): string {
  return /svc_csrf=([^;]+)/.exec(cookie)?.[1] ?? ''
}

/** Signs a browser in with a link; the header `Cookie` of that browser. */
export async function browserOf(platform: TestPlatform, mails: MailServer, email: string): Promise<string> {
  await platform.call('POST', '/auth/magic-link', { as: null, body: { email } })
  const body = new URLSearchParams({ token: await mails.tokenFor(email) })
  return cookieOf(await fetch(`${platform.url}/auth/magic-link`, { method: 'POST', body, redirect: 'manual' }))
}
