// People who have signed in, as they do: by a link from their mailbox.
import type { Account, Offer, SessionTokens } from '@svc/schemas'
import { expect } from 'vitest'
import type { MailServer } from './mail.js'
import type { Answer, TestPlatform } from './platform.js'

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

/** Puts somebody into the workspace in that role, by the offers that lead there, and lets them work in it. */
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
