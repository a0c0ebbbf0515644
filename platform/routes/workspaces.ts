import type { OfferRequest, RoleChange, WorkspaceName } from '@svc/schemas'
import { decideOffer } from '../commands/decide-offer.js'
import { changeRole, leave, removeMember, suspend } from '../commands/members.js'
import { makeOffer, revokeOffer } from '../commands/offers.js'
import { promote } from '../commands/promote-workspace.js'
import { addressOf } from '../commands/send-link.js'
import { PlatformError } from '../errors.js'
import { byPerson, type Call, type Route } from '../http/route.js'
import { withSnapshot, withUnscopedTransaction } from '../store/db.js'
import { expireOffersUnscoped, readOffers, readOffersToUnscoped } from '../store/members.js'
import { type Role, readMembersUnscoped, readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { type Scope, scopeOf } from '../store/scope.js'
import { setSessionOrgUnscoped } from '../store/sessions.js'
import { personOf } from './auth.js'

const tag = 'Workspaces'
const workspace = '/auth/workspaces/{org_id}'
const everybody: readonly Role[] = ['owner', 'admin', 'member', 'auditor']
const admins: readonly Role[] = ['owner', 'admin']

export const workspaceRoutes: readonly Route[] = [
  {
    ...{
      method: 'get',
      path: '/auth/workspaces',
      summary: 'The workspaces you are a member of',
      tag,
      access: byPerson,
    },
    responses: { 200: 'workspace-list' },
    handle: async (call) => ({ status: 200, body: { workspaces: await workspacesOf(call) } }),
  },
  {
    ...{ method: 'post', path: `${workspace}/switch`, summary: 'Work in another workspace', tag, access: byPerson },
    responses: { 204: null },
    handle: async (call) => {
      const { scope } = await within(call, everybody)
      const { session_id } = personOf(call)
      await withUnscopedTransaction(call.platform.db, (tx) => setSessionOrgUnscoped(tx, session_id, scope.org_id))
      return { status: 204 }
    },
  },
  {
    ...{ method: 'post', path: `${workspace}/promote`, summary: 'Share a personal workspace; you get a fresh one' },
    ...{ tag, access: byPerson, body: 'workspace-name' },
    responses: { 204: null },
    handle: async (call) => {
      const { scope } = await within(call, ['owner'])
      await promote(call.platform, scope, personOf(call).person_id, (call.body as WorkspaceName).name)
      return { status: 204 }
    },
  },
  {
    ...{ method: 'post', path: `${workspace}/leave`, summary: 'Leave a workspace', tag, access: byPerson },
    responses: { 204: null },
    handle: async (call) => {
      const { scope } = await within(call, everybody)
      await leave(call.platform, scope, personOf(call).person_id)
      return { status: 204 }
    },
  },
  {
    ...{ method: 'get', path: `${workspace}/members`, summary: 'Who is in the workspace', tag, access: byPerson },
    responses: { 200: 'member-list' },
    handle: async (call) => {
      const { scope } = await within(call, everybody)
      const members = await withUnscopedTransaction(call.platform.db, (tx) => readMembersUnscoped(tx, scope))
      return { status: 200, body: { members } }
    },
  },
  ...(['suspend', 'unsuspend', 'remove'] as const).map(
    (verb): Route => ({
      ...{ method: 'post', path: `${workspace}/members/{person_id}/${verb}`, tag, access: byPerson },
      summary: { suspend: 'Stop a member', unsuspend: 'Let a member back in', remove: 'Take a member out' }[verb],
      responses: { 204: null },
      handle: async (call) => {
        const { scope } = await within(call, admins)
        const person_id = call.params.person_id ?? ''
        if (verb === 'remove') await removeMember(call.platform, scope, person_id)
        else await suspend(call.platform, scope, person_id, verb === 'suspend')
        return { status: 204 }
      },
    }),
  ),
  {
    ...{
      method: 'post',
      path: `${workspace}/members/{person_id}/role`,
      summary: 'Give a member another role; admin is offered',
    },
    ...{ tag, access: byPerson, body: 'role-change' },
    responses: { 204: null },
    handle: async (call) => {
      const { scope } = await within(call, admins)
      await changeRole(call.platform, scope, call.params.person_id ?? '', (call.body as RoleChange).role)
      return { status: 204 }
    },
  },
  {
    ...{
      method: 'get',
      path: `${workspace}/offers`,
      summary: 'What is offered in the workspace, and what became of it',
    },
    ...{ tag, access: byPerson },
    responses: { 200: 'offer-list' },
    handle: async (call) => {
      const { scope } = await within(call, admins)
      await expire(call)
      return {
        status: 200,
        body: { offers: await withSnapshot(call.platform.db, scope, (tx) => readOffers(scope, tx)) },
      }
    },
  },
  {
    ...{
      method: 'post',
      path: `${workspace}/offers`,
      summary: 'Invite an address, or offer a member to administer or own',
    },
    ...{ tag, access: byPerson, body: 'offer-request' },
    responses: { 201: 'offer' },
    handle: async (call) => {
      const { scope } = await within(call, admins)
      const request = call.body as OfferRequest
      call.platform.limits.by_inviter.take(personOf(call).person_id)
      call.platform.limits.by_offered.take(addressOf(request.email))
      await expire(call)
      return { status: 201, body: await makeOffer(call.platform, scope, request) }
    },
  },
  {
    ...{
      method: 'post',
      path: `${workspace}/offers/{offer_id}/revoke`,
      summary: 'Take an offer back',
      tag,
      access: byPerson,
    },
    responses: { 200: 'offer' },
    handle: async (call) => {
      const { scope } = await within(call, admins)
      return { status: 200, body: await revokeOffer(call.platform, scope, call.params.offer_id ?? '') }
    },
  },
  {
    ...{ method: 'get', path: '/auth/offers', summary: 'What is offered to you', tag, access: byPerson },
    responses: { 200: 'offer-list' },
    handle: async (call) => {
      await expire(call)
      const { email } = await addressee(call)
      const offers = await withUnscopedTransaction(call.platform.db, (tx) => readOffersToUnscoped(tx, email))
      return { status: 200, body: { offers } }
    },
  },
  ...(['accept', 'decline'] as const).map(
    (move): Route => ({
      ...{ method: 'post', path: `/auth/offers/{offer_id}/${move}`, tag, access: byPerson },
      summary: move === 'accept' ? 'Accept what is offered to you' : 'Decline what is offered to you',
      responses: { 200: 'offer' },
      handle: async (call) => ({
        status: 200,
        body: await decideOffer(call.platform, await addressee(call), call.params.offer_id ?? '', move),
      }),
    }),
  ),
]

/** Where the path leads, for a member of it: 404 for a stranger, who is not told whether it exists. */
async function within(call: Call, roles: readonly Role[]): Promise<{ readonly scope: Scope }> {
  const { person_id, is_capped } = personOf(call)
  const found = (await workspacesOf(call)).find(({ org_id }) => org_id === call.params.org_id)
  if (found === undefined) throw new PlatformError('NOT_FOUND', 'no such workspace')
  if (is_capped) throw new PlatformError('FORBIDDEN', 'this account is on the waiting list')
  if (found.is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  if (!roles.includes(found.role))
    throw new PlatformError('FORBIDDEN', `this needs one of the roles ${roles.join(', ')}`)
  return { scope: scopeOf(found.org_id, { kind: 'person', id: person_id }) }
}

function workspacesOf(call: Call) {
  const { person_id } = personOf(call)
  return withUnscopedTransaction(call.platform.db, (tx) => workspacesOfUnscoped(tx, person_id))
}

function expire({ platform }: Call): Promise<void> {
  return withUnscopedTransaction(platform.db, (tx) => expireOffersUnscoped(tx, platform.clock()))
}

/** Whom offers are made to. Throws FORBIDDEN while they wait to be admitted. */
async function addressee(call: Call): Promise<{ readonly person_id: string; readonly email: string }> {
  const { person_id, is_capped } = personOf(call)
  if (is_capped) throw new PlatformError('FORBIDDEN', 'this account is on the waiting list')
  const person = await withUnscopedTransaction(call.platform.db, (tx) => readPersonUnscoped(tx, person_id))
  if (person === null) throw new PlatformError('NOT_FOUND', 'no such account')
  return person
}
