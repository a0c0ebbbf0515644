import type { OfferRequest, RoleChange, WorkspaceName } from '@svc/schemas'
import { decideOffer } from '../commands/decide-offer.js'
import { leave, removeMember } from '../commands/leave.js'
import { changeRole, suspend } from '../commands/members.js'
import { makeOffer, revokeOffer } from '../commands/offers.js'
import { promote } from '../commands/promote-workspace.js'
import { onlyFor, PlatformError } from '../../errors.js'
import { waitlisted } from '../authentication.js'
import { byPerson, type Call, type Reply, type Route } from '../../http/route.js'
import { withSnapshot, withUnscopedTransaction } from '../../db/db.js'
import { expireOffersUnscoped, readOffers, readOffersToUnscoped } from '../store/members.js'
import {
  isWaitlisted,
  type Role,
  readMembersUnscoped,
  readPersonUnscoped,
  workspacesOfUnscoped,
} from '../store/people.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { setSessionOrgUnscoped } from '../store/sessions.js'
import { personOf } from './auth.js'

const tag = 'Workspaces'
const everybody: readonly Role[] = ['owner', 'admin', 'member', 'auditor']
const admins: readonly Role[] = ['owner', 'admin']

export const workspaceRoutes: readonly Route[] = [
  {
    ...{ method: 'get', path: '/auth/workspaces', summary: 'The workspaces you are a member of' },
    ...{ tag, access: byPerson, responses: { 200: 'workspace-list' } },
    handle: async (call) => ({ status: 200, body: { workspaces: await workspacesOf(call) } }),
  },
  inWorkspace(everybody, {
    ...{ method: 'post', path: '/switch', summary: 'Work in another workspace', responses: { 204: null } },
    handle: async (call, scope) => {
      const { session_id } = personOf(call)
      await withUnscopedTransaction(call.platform.db, (tx) => setSessionOrgUnscoped(tx, session_id, scope.org_id))
      return { status: 204 }
    },
  }),
  inWorkspace(['owner'], {
    ...{ method: 'post', path: '/promote', summary: 'Share a personal workspace; you get a fresh one' },
    ...{ body: 'workspace-name', responses: { 204: null } },
    handle: async (call, scope) => {
      await call.platform.limits.by_person.take(personOf(call).person_id)
      await promote(call.platform, scope, personOf(call).person_id, (call.body as WorkspaceName).name)
      return { status: 204 }
    },
  }),
  inWorkspace(everybody, {
    ...{ method: 'post', path: '/leave', summary: 'Leave a workspace', responses: { 204: null } },
    handle: async (call, scope) => {
      await leave(call.platform, scope, personOf(call).person_id)
      return { status: 204 }
    },
  }),
  inWorkspace(everybody, {
    ...{ method: 'get', path: '/members', summary: 'Who is in the workspace', responses: { 200: 'member-list' } },
    handle: async (call, scope) => {
      const members = await withUnscopedTransaction(call.platform.db, (tx) => readMembersUnscoped(tx, scope))
      return { status: 200, body: { members } }
    },
  }),
  ...(['suspend', 'unsuspend', 'remove'] as const).map((verb) =>
    inWorkspace(admins, {
      ...{ method: 'post', path: `/members/{person_id}/${verb}`, responses: { 204: null } },
      summary: { suspend: 'Stop a member', unsuspend: 'Let a member back in', remove: 'Take a member out' }[verb],
      handle: async ({ platform, params }, scope) => {
        const person_id = params.person_id ?? ''
        if (verb === 'remove') await removeMember(platform, scope, person_id)
        else await suspend(platform, scope, person_id, verb === 'suspend')
        return { status: 204 }
      },
    }),
  ),
  inWorkspace(admins, {
    ...{ method: 'post', path: '/members/{person_id}/role', summary: 'Give a member another role; admin is offered' },
    ...{ body: 'role-change', responses: { 204: null } },
    handle: async ({ platform, params, body }, scope) => {
      await changeRole(platform, scope, params.person_id ?? '', (body as RoleChange).role)
      return { status: 204 }
    },
  }),
  inWorkspace(admins, {
    ...{ method: 'get', path: '/offers', summary: 'What is offered in the workspace, and what became of it' },
    responses: { 200: 'offer-list' },
    handle: async (call, scope) => {
      await expire(call)
      const offers = await withSnapshot(call.platform.db, scope, (tx) => readOffers(scope, tx))
      return { status: 200, body: { offers } }
    },
  }),
  inWorkspace(admins, {
    ...{ method: 'post', path: '/offers', summary: 'Invite an address, or offer a member to administer or own' },
    ...{ body: 'offer-request', responses: { 201: 'offer' } },
    handle: async (call, scope) => {
      await expire(call)
      return { status: 201, body: await makeOffer(call.platform, scope, call.body as OfferRequest) }
    },
  }),
  inWorkspace(admins, {
    ...{
      method: 'post',
      path: '/offers/{offer_id}/revoke',
      summary: 'Take an offer back',
      responses: { 200: 'offer' },
    },
    handle: async ({ platform, params }, scope) => ({
      status: 200,
      body: await revokeOffer(platform, scope, params.offer_id ?? ''),
    }),
  }),
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

interface WithinRoute extends Omit<Route, 'tag' | 'access' | 'handle'> {
  readonly handle: (call: Call, scope: Scope) => Promise<Reply>
}

/** A route below `/auth/workspaces/{org_id}`, for those who have one of these roles there. */
function inWorkspace(roles: readonly Role[], { path, handle, ...rest }: WithinRoute): Route {
  return {
    ...{ ...rest, tag, path: `/auth/workspaces/{org_id}${path}`, access: { ...byPerson, within: roles } },
    handle: async (call) => handle(call, await within(call, roles)),
  }
}

/** Where the path leads, for a member of it: 404 for a stranger, who is not told whether it exists. */
async function within(call: Call, roles: readonly Role[]): Promise<Scope> {
  const { person_id, is_capped } = personOf(call)
  const found = (await workspacesOf(call)).find(({ org_id }) => org_id === call.params.org_id)
  if (found === undefined) throw new PlatformError('NOT_FOUND', 'no such workspace')
  if (isWaitlisted(is_capped, found.kind)) throw new PlatformError('FORBIDDEN', waitlisted)
  if (found.is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  if (!roles.includes(found.role)) throw onlyFor(roles, found.role)
  return scopeOf(found.org_id, { kind: 'person', id: person_id })
}

function workspacesOf(call: Call) {
  const { person_id } = personOf(call)
  return withUnscopedTransaction(call.platform.db, (tx) => workspacesOfUnscoped(tx, person_id))
}

function expire({ platform }: Call): Promise<void> {
  return withUnscopedTransaction(platform.db, (tx) => expireOffersUnscoped(tx, platform.clock()))
}

/** Whom offers are made to; a waitlisted account may accept invitations. */
async function addressee(call: Call): Promise<{ readonly person_id: string; readonly email: string }> {
  const { person_id } = personOf(call)
  const person = await withUnscopedTransaction(call.platform.db, (tx) => readPersonUnscoped(tx, person_id))
  if (person === null) throw new PlatformError('NOT_FOUND', 'no such account')
  return person
}
