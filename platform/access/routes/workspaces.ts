import type { SchemaName } from '@svc/schemas'
import { withSnapshot, withUnscopedTransaction } from '../../db/db.js'
import { type Scope, scopeOf } from '../../db/scope.js'
import { onlyFor, PlatformError } from '../../errors.js'
import { admins, allRoles, type Principal, personOf, type Role } from '../../http/principal.js'
import { type BodyOf, byPerson, type Call, type Endpoint, type Reply, type Route, route } from '../../http/route.js'
import { decideOffer, type Recipient } from '../commands/decide-offer.js'
import { leave, removeMember } from '../commands/leave.js'
import { changeRole, suspend } from '../commands/members.js'
import { makeOffer, revokeOffer } from '../commands/offers.js'
import { promote } from '../commands/promote-workspace.js'
import type { AccessParts } from '../parts.js'
import { waitlisted } from '../permission.js'
import { expireOffersUnscoped, readOffers, readOffersToUnscoped } from '../store/members.js'
import { isWaitlisted, readMembersUnscoped, readPersonUnscoped, workspacesOfUnscoped } from '../store/people.js'
import { setSessionOrgUnscoped } from '../store/sessions.js'

const tag = 'Workspaces'

export const workspaceRoutes = [
  route({
    method: 'get',
    path: '/auth/workspaces',
    summary: 'List the workspaces you are a member of',
    tag,
    access: byPerson,
    responses: { 200: 'workspace-list' },
    handle: async ({ principal }, parts: AccessParts) => ({
      status: 200,
      body: { workspaces: await workspacesOf(principal, parts) },
    }),
  }),
  inWorkspace(allRoles, {
    method: 'post',
    path: '/switch',
    summary: 'Switch the session to another workspace',
    responses: { 204: null },
    handle: async ({ principal }, scope, { db }) => {
      const { session_id } = personOf(principal)
      await withUnscopedTransaction(db, (tx) => setSessionOrgUnscoped(tx, session_id, scope.org_id))
      return { status: 204 }
    },
  }),
  inWorkspace(['owner'], {
    method: 'post',
    path: '/promote',
    summary: 'Turn a personal workspace into a shared one; you get a new personal one',
    body: 'workspace-name',
    responses: { 204: null },
    handle: async ({ principal, body }, scope, parts) => {
      const { person_id } = personOf(principal)
      await parts.limits.by_person.take(person_id)
      await promote(parts, scope, person_id, body.name)
      return { status: 204 }
    },
  }),
  inWorkspace(allRoles, {
    method: 'post',
    path: '/leave',
    summary: 'Leave a workspace',
    responses: { 204: null },
    handle: async ({ principal }, scope, parts) => {
      await leave(parts, scope, personOf(principal).person_id)
      return { status: 204 }
    },
  }),
  inWorkspace(allRoles, {
    method: 'get',
    path: '/members',
    summary: 'List the members of the workspace',
    responses: { 200: 'member-list' },
    handle: async (_call, scope, { db }) => {
      const members = await withUnscopedTransaction(db, (tx) => readMembersUnscoped(tx, scope))
      return { status: 200, body: { members } }
    },
  }),
  ...(['suspend', 'unsuspend', 'remove'] as const).map((verb) =>
    inWorkspace(admins, {
      method: 'post',
      path: `/members/{person_id}/${verb}`,
      summary: { suspend: 'Suspend a member', unsuspend: 'Unsuspend a member', remove: 'Remove a member' }[verb],
      responses: { 204: null },
      handle: async ({ params: { person_id } }, scope, parts) => {
        if (verb === 'remove') await removeMember(parts, scope, person_id)
        else await suspend(parts, scope, person_id, verb === 'suspend')
        return { status: 204 }
      },
    }),
  ),
  inWorkspace(admins, {
    method: 'post',
    path: '/members/{person_id}/role',
    summary: 'Change the role of a member; the role admin needs an offer',
    body: 'role-change',
    responses: { 204: null },
    handle: async ({ params, body }, scope, parts) => {
      await changeRole(parts, scope, params.person_id, body.role)
      return { status: 204 }
    },
  }),
  inWorkspace(admins, {
    method: 'get',
    path: '/offers',
    summary: 'List the offers of the workspace, in every state',
    responses: { 200: 'offer-list' },
    handle: async (_call, scope, parts) => {
      await expire(parts)
      const offers = await withSnapshot(parts.db, scope, (tx) => readOffers(scope, tx))
      return { status: 200, body: { offers } }
    },
  }),
  inWorkspace(admins, {
    method: 'post',
    path: '/offers',
    summary: 'Make an offer: an invitation, a role offer, an ownership transfer or a successor',
    body: 'offer-request',
    responses: { 201: 'offer' },
    handle: async ({ body }, scope, parts) => {
      await expire(parts)
      return { status: 201, body: await makeOffer(parts, scope, body) }
    },
  }),
  inWorkspace(admins, {
    method: 'post',
    path: '/offers/{offer_id}/revoke',
    summary: 'Revoke an offer',
    responses: { 200: 'offer' },
    handle: async ({ params }, scope, parts) => ({
      status: 200,
      body: await revokeOffer(parts, scope, params.offer_id),
    }),
  }),
  route({
    method: 'get',
    path: '/auth/offers',
    summary: 'List the offers to you',
    tag,
    access: byPerson,
    responses: { 200: 'offer-list' },
    handle: async ({ principal }, parts: AccessParts) => {
      await expire(parts)
      const { email } = await recipientOf(principal, parts)
      const offers = await withUnscopedTransaction(parts.db, (tx) => readOffersToUnscoped(tx, email))
      return { status: 200, body: { offers } }
    },
  }),
  ...(['accept', 'decline'] as const).map((move) =>
    route({
      method: 'post',
      path: `/auth/offers/{offer_id}/${move}`,
      summary: move === 'accept' ? 'Accept an offer' : 'Decline an offer',
      tag,
      access: byPerson,
      responses: { 200: 'offer' },
      handle: async ({ principal, params }, parts: AccessParts) => ({
        status: 200,
        body: await decideOffer(parts, await recipientOf(principal, parts), params.offer_id, move),
      }),
    }),
  ),
]

/** A route below `/auth/workspaces/{org_id}`, for members with one of these roles in that workspace. */
function inWorkspace<const Path extends string, const Name extends SchemaName | undefined = undefined>(
  roles: readonly Role[],
  {
    path,
    handle,
    ...rest
  }: Omit<Endpoint, 'path' | 'body' | 'tag' | 'access'> & {
    readonly path: Path
    readonly body?: Name
    readonly handle: (call: Call<Path, BodyOf<Name>>, scope: Scope, parts: AccessParts) => Promise<Reply>
  },
): Route<AccessParts> {
  return {
    ...(rest as Omit<Endpoint, 'path' | 'tag' | 'access'>),
    path: `/auth/workspaces/{org_id}${path}`,
    tag,
    access: { ...byPerson, within: roles },
    handle: async (call, parts) => {
      const { org_id = '' } = call.params as Readonly<Record<string, string>>
      const scope = await scopeWithin(call.principal, parts, org_id, roles)
      return handle(call as Call<Path, BodyOf<Name>>, scope, parts)
    },
  }
}

/** The scope of a workspace. Rejects with NOT_FOUND for a person who is not a member of it. */
async function scopeWithin(
  principal: Principal,
  parts: AccessParts,
  org_id: string,
  roles: readonly Role[],
): Promise<Scope> {
  const { person_id, is_capped } = personOf(principal)
  const found = (await workspacesOf(principal, parts)).find((workspace) => workspace.org_id === org_id)
  if (found === undefined) throw new PlatformError('NOT_FOUND', 'no such workspace')
  if (isWaitlisted(is_capped, found.kind)) throw new PlatformError('FORBIDDEN', waitlisted)
  if (found.is_suspended) throw new PlatformError('FORBIDDEN', 'this account is suspended in this workspace')
  if (!roles.includes(found.role)) throw onlyFor(roles, found.role)
  return scopeOf(org_id, { kind: 'person', id: person_id })
}

function workspacesOf(principal: Principal, { db }: AccessParts) {
  const { person_id } = personOf(principal)
  return withUnscopedTransaction(db, (tx) => workspacesOfUnscoped(tx, person_id))
}

function expire({ db, clock }: AccessParts): Promise<void> {
  return withUnscopedTransaction(db, (tx) => expireOffersUnscoped(tx, clock()))
}

/** The recipient of the caller's offers, also for a waitlisted account. */
async function recipientOf(principal: Principal, { db }: AccessParts): Promise<Recipient> {
  const { person_id } = personOf(principal)
  const person = await withUnscopedTransaction(db, (tx) => readPersonUnscoped(tx, person_id))
  if (person === null) throw new PlatformError('NOT_FOUND', 'no such account')
  return person
}
