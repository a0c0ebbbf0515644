// The page of a member: their role, and the acts of owners and admins, each with what it does.
import type { Member } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { type Html, id, link, nothing, piece, text, time } from '../../views/html.js'
import { card, facts, type Question, question } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { roleTexts } from './general.js'
import { memberState } from './members.js'
import { orgOf, settings } from './settings.js'

async function show(visit: Visit): Promise<Shown> {
  const { params, query, path, person } = visit
  const at = api`/auth/workspaces/${orgOf(visit)}`
  const { members } = await visit.api.read('member-list', `${at}/members`)
  const member = members.find(({ person_id }) => person_id === params.person_id)
  if (member === undefined) throw new PlatformError('NOT_FOUND', 'no such member')
  const isSelf = member.person_id === person.person_id
  const mayManage = visit.api.may('post', `${at}/offers`) && member.role !== 'owner' && !isSelf
  const acts = mayManage ? actsOf(member, person.role === 'owner') : []
  const asked = acts.find(({ name }) => name === query.confirm)
  if (asked !== undefined) return settings(visit, 'members', question(visit, questionOf(asked, member, path)))
  const about = facts([
    ['Address', text(member.email)],
    ['Name', member.name === '' ? null : text(member.name)],
    ['Role', role({ role: member.role, may: roleTexts[member.role] })],
    ['State', memberState(member)],
    ['Suspended', member.suspended_at === null ? null : time(member.suspended_at)],
    ['Joined', time(member.joined_at)],
    ['Person', id(member.person_id)],
    ['Acts', link(paths.events({ actor: member.person_id }), 'in the audit trail')],
  ])
  return settings(
    visit,
    'members',
    back({ href: paths.members() }),
    card(member.email, about),
    mayManage ? card('Role', roleForm(visit, member)) : why(member, isSelf),
    acts.length === 0
      ? nothing
      : card('Change the membership', actsView({ acts: acts.map((one) => viewOf(one, path)) })),
  )
}

const back = piece('<p><a href="{{href}}">All members</a></p>')
const role = piece('<strong>{{role}}</strong>: {{may}}')

function why({ role: own }: Member, isSelf: boolean): Html {
  if (own === 'owner')
    return hint({ text: 'Only the owner can transfer the ownership. Other members cannot change the owner.' })
  return isSelf
    ? hint({ text: 'Another owner or admin can change your role. You can leave the workspace on the page General.' })
    : nothing
}

const hint = piece('<p class="text-secondary">{{text}}</p>')

function roleForm({ csrf }: Visit, { role: own }: Member): Html {
  const roles = (['member', 'auditor'] as const).map((value) => ({ value, on: value === own, may: roleTexts[value] }))
  return roleView({ csrf, roles })
}

const roleView = piece(`<form method="post"><input type="hidden" name="csrf" value="{{csrf}}">
{{#each roles}}<label class="form-check"><input class="form-check-input" type="radio" name="role" value="{{value}}" required{{#if on}} checked{{/if}}><span class="form-check-label"><strong>{{value}}</strong>: {{may}}</span></label>
{{/each}}<p class="form-hint">The new role takes effect at the next request of the person. Pending offers to them are revoked.</p>
<button class="btn btn-primary" name="act" value="role">Set the role</button></form>`)

interface MemberAct {
  readonly name: 'admin' | 'suspend' | 'unsuspend' | 'remove' | 'transfer' | 'successor'
  readonly label: string
  /** The question, without the address of the person. */
  readonly asks: string
  readonly about: string
  readonly effects: readonly string[]
  readonly isFinal: boolean
}

const week = 'The offer is valid for seven days, and can be revoked until it is accepted.'

const memberActs: readonly MemberAct[] = [
  {
    name: 'admin',
    label: 'Offer the role admin',
    asks: 'Offer the role admin to',
    about: 'An admin looks after people, keys, retention and erasures.',
    effects: ['The person becomes an admin once they accept the offer on the page of their account.', week],
    isFinal: false,
  },
  {
    name: 'successor',
    label: 'Name as successor',
    asks: 'Name as your successor:',
    about: 'The successor becomes the owner when the owner leaves.',
    effects: [
      'The person is asked to accept. Their role does not change before you leave or end your account.',
      'The offer can be accepted for seven days. You can revoke it later, also after it was accepted.',
    ],
    isFinal: false,
  },
  {
    name: 'transfer',
    label: 'Offer the ownership',
    asks: 'Offer the ownership of the workspace to',
    about: 'The person becomes the owner in your place.',
    effects: [
      'Once the person accepts, they are the owner and you become an admin.',
      'Only they can transfer the ownership back.',
      week,
    ],
    isFinal: true,
  },
  {
    name: 'suspend',
    label: 'Suspend',
    asks: 'Suspend',
    about: 'A suspended member keeps their role, but has no access.',
    effects: [
      'The person loses access to this workspace at their next request.',
      'Offers that they made are revoked. API keys stay valid: they belong to the workspace.',
      'You can end the suspension at any time.',
    ],
    isFinal: true,
  },
  {
    name: 'unsuspend',
    label: 'End the suspension',
    asks: 'End the suspension of',
    about: 'The person has access again, with the same role.',
    effects: ['The person has access at their next request.'],
    isFinal: false,
  },
  {
    name: 'remove',
    label: 'Remove',
    asks: 'Remove',
    about: 'A removed member needs a new invitation to return.',
    effects: [
      'The person loses access to this workspace at their next request.',
      'Offers to them and by them are revoked. API keys stay valid: they belong to the workspace.',
      'The log and the audit trail keep what they did, by the id of the person.',
    ],
    isFinal: true,
  },
]

/** The acts that the state of the member and the role of the caller allow. */
function actsOf({ role: own, suspended_at }: Member, isOwner: boolean): MemberAct[] {
  const possible: Readonly<Record<MemberAct['name'], boolean>> = {
    admin: own !== 'admin' && suspended_at === null,
    suspend: suspended_at === null,
    unsuspend: suspended_at !== null,
    remove: true,
    transfer: isOwner && suspended_at === null,
    successor: isOwner && suspended_at === null,
  }
  return memberActs.filter(({ name }) => possible[name])
}

function viewOf({ name, label, about, isFinal }: MemberAct, path: string) {
  return { label, about, isFinal, href: address(path, { confirm: name }) }
}

const actsView = piece(`<ul class="acts">{{#each acts}}<li><span>{{about}}</span>
<a class="btn{{#if isFinal}} btn-outline-danger{{/if}}" href="{{href}}">{{label}} …</a></li>{{/each}}</ul>`)

function questionOf({ name, label, asks, effects, isFinal }: MemberAct, { email }: Member, path: string): Question {
  return { title: `${asks} ${email}?`, effects, act: name, button: label, back: path, isFinal }
}

/** The act on the member of the address. */
const onMember =
  (verb: 'suspend' | 'unsuspend' | 'remove'): Act =>
  async (visit) => {
    const { person_id = '' } = visit.params
    await visit.api.change(null, 'post', `${api`/auth/workspaces/${orgOf(visit)}/members/${person_id}`}/${verb}`)
    return verb === 'remove' ? paths.members() : visit.path
  }

const setRole: Act = async (visit, form) => {
  const { person_id = '' } = visit.params
  const at = api`/auth/workspaces/${orgOf(visit)}/members/${person_id}/role`
  await visit.api.change(null, 'post', at, { role: field(form, 'role') })
  return visit.path
}

/** Offers are made to the address of the member. */
const offer =
  (kind: 'admin' | 'transfer' | 'successor'): Act =>
  async (visit) => {
    const at = api`/auth/workspaces/${orgOf(visit)}`
    const { members } = await visit.api.read('member-list', `${at}/members`)
    const email = members.find(({ person_id }) => person_id === visit.params.person_id)?.email ?? ''
    await visit.api.change('offer', 'post', `${at}/offers`, { kind, email })
    return paths.members()
  }

export const memberPage: DashboardPage = {
  path: '/settings/members/:person_id',
  show,
  acts: {
    role: setRole,
    suspend: onMember('suspend'),
    unsuspend: onMember('unsuspend'),
    remove: onMember('remove'),
    admin: offer('admin'),
    transfer: offer('transfer'),
    successor: offer('successor'),
  },
}
