import type { Account } from '@svc/schemas'
import { withUnscopedTransaction } from '../../db/db.js'
import { PlatformError } from '../../errors.js'
import { type PersonPrincipal, personOf } from '../../http/principal.js'
import { byAnonymous, byPerson, route } from '../../http/route.js'
import { mailboxOf } from '../../mail/address.js'
import { acceptInvitation } from '../commands/accept-invitation.js'
import { endAccount } from '../commands/end-account.js'
import { sendLink } from '../commands/send-link.js'
import { refresh, signIn, signOut } from '../commands/sign-in.js'
import type { AccessParts } from '../parts.js'
import { readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'

const tag = 'Sign-in'

export const authRoutes = [
  route({
    method: 'post',
    path: '/auth/magic-link',
    summary: 'Send a sign-in link to an address; the response is the same with and without an account',
    tag,
    access: byAnonymous,
    body: 'magic-link-request',
    responses: { 202: null },
    handle: async ({ body }, parts: AccessParts) => {
      const { email } = body
      await parts.limits.by_mailbox.take(mailboxOf(email))
      await sendLink(parts, email)
      return { status: 202 }
    },
  }),
  route({
    method: 'post',
    path: '/auth/magic-link/verify',
    summary: 'Sign in with a link; it works once',
    tag,
    access: byAnonymous,
    body: 'magic-link',
    responses: { 200: 'session-tokens' },
    handle: async ({ body }, parts: AccessParts) => ({ status: 200, body: await signIn(parts, body.token) }),
  }),
  route({
    method: 'post',
    path: '/auth/invitation/accept',
    summary: 'Accept an invitation by its link and sign in; an address without an account gets one',
    tag,
    access: byAnonymous,
    body: 'magic-link',
    responses: { 200: 'session-tokens' },
    handle: async ({ body }, parts: AccessParts) => ({ status: 200, body: await acceptInvitation(parts, body.token) }),
  }),
  route({
    method: 'post',
    path: '/auth/refresh',
    summary: 'Continue a session; a refresh token works once',
    tag,
    access: byAnonymous,
    body: 'refresh-request',
    responses: { 200: 'session-tokens' },
    // Many programs behind one network address refresh their sessions: requests for links must not use up their limit.
    limit: 'by_poller',
    handle: async ({ body }, parts: AccessParts) => ({ status: 200, body: await refresh(parts, body.refresh_token) }),
  }),
  route({
    method: 'post',
    path: '/auth/logout',
    summary: 'End the session',
    tag,
    access: byPerson,
    responses: { 204: null },
    handle: async (call, parts: AccessParts) => {
      await signOut(parts, personOf(call.principal).session_id)
      return { status: 204 }
    },
  }),
  route({
    method: 'get',
    path: '/auth/me',
    summary: 'Get the signed-in account; a missing field means unknown, not false',
    tag,
    access: byPerson,
    responses: { 200: 'account' },
    handle: async (call, parts: AccessParts) => ({
      status: 200,
      body: await accountOf(personOf(call.principal), parts),
    }),
  }),
  route({
    method: 'delete',
    path: '/auth/me',
    summary: 'End the account: its sessions and the API keys of its personal workspace end, and its address is erased',
    tag,
    access: byPerson,
    body: 'account-end',
    responses: { 204: null },
    handle: async (call, parts: AccessParts) => {
      const { person_id } = personOf(call.principal)
      await parts.limits.by_person.take(person_id)
      await endAccount(parts, person_id, call.body.email)
      return { status: 204 }
    },
  }),
]

async function accountOf(
  { person_id, org_id, is_capped, is_suspended }: PersonPrincipal,
  { db }: AccessParts,
): Promise<Account> {
  return withUnscopedTransaction(db, async (tx) => {
    const person = await readPersonUnscoped(tx, person_id)
    if (person === null) throw new PlatformError('NOT_FOUND', 'no such account')
    const { email, name } = person
    const workspaces = await workspacesOfUnscoped(tx, person_id)
    return { id: person_id, email, name, workspaces, current_workspace: org_id, is_capped, is_suspended }
  })
}
