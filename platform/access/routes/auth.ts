import type { Account, AccountEnd, MagicLink, MagicLinkRequest, RefreshRequest } from '@svc/schemas'
import { acceptInvitation } from '../commands/accept-invitation.js'
import { endAccount } from '../commands/end-account.js'
import { sendLink } from '../commands/send-link.js'
import { refresh, signIn, signOut } from '../commands/sign-in.js'
import { PlatformError } from '../../errors.js'
import type { PersonPrincipal } from '../authentication.js'
import { byNobody, byPerson, type Call, type Route } from '../../http/route.js'
import { mailboxOf } from '../../mail/address.js'
import { withUnscopedTransaction } from '../../db/db.js'
import { readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'

const tag = 'Sign-in'

export const authRoutes: readonly Route[] = [
  {
    method: 'post',
    path: '/auth/magic-link',
    summary: 'Send a sign-in link to an address; the answer is the same whether or not it has an account',
    tag,
    access: byNobody,
    body: 'magic-link-request',
    responses: { 202: null },
    handle: async ({ platform, body }) => {
      const { email } = body as MagicLinkRequest
      await platform.limits.by_mailbox.take(mailboxOf(email))
      await sendLink(platform, email)
      return { status: 202 }
    },
  },
  {
    method: 'post',
    path: '/auth/magic-link/verify',
    summary: 'Spend a sign-in link',
    tag,
    access: byNobody,
    body: 'magic-link',
    responses: { 200: 'session-tokens' },
    handle: async ({ platform, body }) => {
      return { status: 200, body: await signIn(platform, (body as MagicLink).token) }
    },
  },
  {
    method: 'post',
    path: '/auth/invitation/accept',
    summary: 'Accept an invitation by its link, and sign in; an address without an account gets one',
    tag,
    access: byNobody,
    body: 'magic-link',
    responses: { 200: 'session-tokens' },
    handle: async ({ platform, body }) => {
      return { status: 200, body: await acceptInvitation(platform, (body as MagicLink).token) }
    },
  },
  {
    method: 'post',
    path: '/auth/refresh',
    summary: 'Continue a session; the refresh token is used up',
    tag,
    access: byNobody,
    body: 'refresh-request',
    responses: { 200: 'session-tokens' },
    // Many programs behind one address stay signed in: whoever asks for links must not use up what they need.
    limit: 'by_poller',
    handle: async ({ platform, body }) => {
      return { status: 200, body: await refresh(platform, (body as RefreshRequest).refresh_token) }
    },
  },
  {
    method: 'post',
    path: '/auth/logout',
    summary: 'End the session',
    tag,
    access: byPerson,
    responses: { 204: null },
    handle: async (call) => {
      await signOut(call.platform, personOf(call).session_id)
      return { status: 204 }
    },
  },
  {
    method: 'get',
    path: '/auth/me',
    summary: 'Who is signed in; a field that is missing is unknown, not false',
    tag,
    access: byPerson,
    responses: { 200: 'account' },
    handle: async (call) => ({ status: 200, body: await accountOf(call) }),
  },
  {
    method: 'delete',
    path: '/auth/me',
    summary: 'End the account: its sessions and its own keys end, and its address is erased',
    tag,
    access: byPerson,
    body: 'account-end',
    responses: { 204: null },
    handle: async (call) => {
      const { person_id } = personOf(call)
      await call.platform.limits.by_person.take(person_id)
      await endAccount(call.platform, person_id, (call.body as AccountEnd).email)
      return { status: 204 }
    },
  },
]

/** The person who calls. Throws FORBIDDEN for anybody else. */
export function personOf({ principal }: Call): PersonPrincipal {
  if (principal.kind === 'person') return principal
  throw new PlatformError('FORBIDDEN', 'this needs somebody who has signed in')
}

async function accountOf(call: Call): Promise<Account> {
  const { person_id, org_id, is_capped, is_suspended } = personOf(call)
  return withUnscopedTransaction(call.platform.db, async (tx) => {
    const person = await readPersonUnscoped(tx, person_id)
    if (person === null) throw new PlatformError('NOT_FOUND', 'no such account')
    const { email, name } = person
    const workspaces = await workspacesOfUnscoped(tx, person_id)
    return { id: person_id, email, name, workspaces, current_workspace: org_id, is_capped, is_suspended }
  })
}
