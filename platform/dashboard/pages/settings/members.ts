// Settings, Members: who works in the workspace, and who is invited.
import type { Member, Offer } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { decidersOf } from '../../people.js'
import { badge, type Html, joined, link, nothing, piece, type Tone, text, time } from '../../views/html.js'
import { card, table } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { orgOf, settings } from './settings.js'

async function show(visit: Visit): Promise<Shown> {
  const at = api`/auth/workspaces/${orgOf(visit)}`
  const { read, may } = visit.api
  const mayManage = may('post', `${at}/offers`)
  const [{ members }, { workspaces }] = await Promise.all([
    read('member-list', `${at}/members`),
    read('workspace-list', '/auth/workspaces'),
  ])
  const isPersonal = workspaces.find(({ org_id }) => org_id === orgOf(visit))?.kind === 'personal'
  const list = card('Members', membersTable(visit, members, mayManage))
  if (isPersonal) return settings(visit, 'members', personal({ href: paths.settings() }), list)
  if (!mayManage) return settings(visit, 'members', list, rights({}))
  const [{ offers }, nameOf] = await Promise.all([read('offer-list', `${at}/offers`), decidersOf(visit)])
  return settings(
    visit,
    'members',
    list,
    card('Invite a person', invitation(visit)),
    card('Invitations and offers', offersTable(visit, offers, nameOf)),
  )
}

const personal = piece(`<p>This is your personal workspace, which only you can use. To invite people,
<a class="text-link" href="{{href}}">share it under a name</a> first.</p>`)
const rights = piece('<p class="text-secondary">An owner or admin invites people and changes roles.</p>')

export const memberState = ({ suspended_at }: Member) =>
  suspended_at === null ? badge('active', 'green') : badge('suspended', 'red')

function membersTable({ person }: Visit, members: readonly Member[], mayManage: boolean): Html {
  return table(
    'Members',
    [
      {
        head: 'Address',
        cell: ({ person_id, email }) =>
          joined([
            mayManage ? link(paths.member(person_id), email) : text(email),
            person_id === person.person_id ? badge('you', 'blue') : nothing,
          ]),
      },
      { head: 'Name', cell: ({ name }) => text(name) },
      { head: 'Role', cell: ({ role }) => text(role) },
      { head: 'State', cell: memberState },
      { head: 'Joined', cell: ({ joined_at }) => time(joined_at) },
    ],
    members,
    '',
  )
}

function invitation({ csrf, form }: Visit): Html {
  return invite({ csrf, email: field(form, 'email'), auditor: field(form, 'role') === 'auditor' })
}

const invite = piece(`<form method="post" class="bar mb-2"><input type="hidden" name="csrf" value="{{csrf}}">
<div class="flex-fill"><label class="form-label" for="email">Mail address</label>
<input class="form-control" id="email" name="email" type="email" value="{{email}}" maxlength="254" required autocomplete="off"></div>
<div><label class="form-label" for="role">Role</label><select class="form-select" id="role" name="role"><option value="member">member</option>
<option value="auditor"{{#if auditor}} selected{{/if}}>auditor</option></select></div>
<button class="btn btn-primary" name="act" value="invite">Invite</button></form>
<p class="form-hint mb-0">The mail holds a link that works once, for seven days. A member works on agents, policies and incidents; an auditor reads everything
and makes reports. To make a person an admin, invite them as a member, then offer them the role on their page.</p>`)

const offerTexts: Readonly<Record<Offer['kind'], string>> = {
  invitation: 'invitation',
  admin: 'offer of the role admin',
  transfer: 'transfer of the ownership',
  successor: 'successor of the owner',
}

const offerTones: Readonly<Record<Offer['state'], Tone>> = {
  pending: 'blue',
  accepted: 'green',
  declined: 'orange',
  revoked: 'secondary',
  expired: 'secondary',
}

function offersTable(visit: Visit, offers: readonly Offer[], nameOf: (actor: string) => Html): Html {
  const { csrf, api: calls } = visit
  const at = api`/auth/workspaces/${orgOf(visit)}/offers`
  const own = visit.person.role === 'owner'
  const canRevoke = ({ id, kind, state }: Offer) =>
    calls.may('post', `${at}/${encodeURIComponent(id)}/revoke`) &&
    (own || kind === 'invitation' || kind === 'admin') &&
    (state === 'pending' || (state === 'accepted' && kind === 'successor'))
  return table<Offer>(
    'Invitations and offers',
    [
      { head: 'To', cell: ({ email }) => text(email) },
      {
        head: 'Kind',
        cell: ({ kind, role }) => text(kind === 'invitation' ? `invitation as ${role}` : offerTexts[kind]),
      },
      { head: 'State', cell: ({ state }) => badge(state, offerTones[state]) },
      {
        head: 'Made',
        cell: ({ made_at, made_by }) => joined([time(made_at), text('by'), nameOf(`person:${made_by}`)]),
      },
      { head: 'Valid until', cell: ({ expires_at, state }) => (state === 'pending' ? time(expires_at) : nothing) },
      {
        head: 'Change',
        cell: (offer) => (canRevoke(offer) ? revoke({ csrf, id: offer.id, email: offer.email }) : nothing),
      },
    ],
    offers,
    'No person was invited yet. Invitations and offers appear here with their state.',
  )
}

const revoke = piece(
  '<form method="post"><input type="hidden" name="csrf" value="{{csrf}}"><input type="hidden" name="offer" value="{{id}}"><button class="btn btn-sm" name="act" value="revoke" aria-label="Revoke the offer to {{email}}">Revoke</button></form>',
)

const inviteNow: Act = async (visit, form) => {
  const offer = { kind: 'invitation', email: field(form, 'email').trim(), role: field(form, 'role') || 'member' }
  await visit.api.change('offer', 'post', api`/auth/workspaces/${orgOf(visit)}/offers`, offer)
  return paths.members()
}

const revokeNow: Act = async (visit, form) => {
  await visit.api.change('offer', 'post', api`/auth/workspaces/${orgOf(visit)}/offers/${field(form, 'offer')}/revoke`)
  return paths.members()
}

export const membersPage: DashboardPage = {
  path: '/settings/members',
  show,
  acts: { invite: inviteNow, revoke: revokeNow },
}
