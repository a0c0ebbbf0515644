// Settings, General: the workspace, the role of the person, and how programs reach the platform.
import type { Workspace } from '@svc/schemas'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { badge, counted, id, link, nothing, piece, text } from '../../views/html.js'
import { card, copyable, facts, type Question, question } from '../../views/pieces.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { orgOf, settings } from './settings.js'

async function show(visit: Visit): Promise<Shown> {
  const org_id = orgOf(visit)
  const at = api`/auth/workspaces/${org_id}`
  const { read, may } = visit.api
  const [{ members }, { retention_days }, { workspaces }] = await Promise.all([
    read('member-list', `${at}/members`),
    read('retention', '/api/v1/retention'),
    read('workspace-list', '/auth/workspaces'),
  ])
  const workspace = workspaces.find((one) => one.org_id === org_id)
  if (workspace === undefined) throw new Error('the workspace of a member is not among theirs')
  const isShared = workspace.kind === 'shared'
  if (visit.query.confirm === 'leave' && isShared)
    return settings(visit, 'general', question(visit, leaving(workspace)))
  const about = facts([
    ['Name', text(workspace.name)],
    ['Workspace', id(org_id)],
    ['Kind', badge(workspace.kind, isShared ? 'blue' : 'secondary')],
    ['Your role', role({ role: workspace.role, may: roleTexts[workspace.role] })],
    ['Members', link(paths.members(), counted(members.length, 'member'))],
    ['Entries are kept for', link(paths.retention(), counted(retention_days, 'day'))],
  ])
  return settings(
    visit,
    'general',
    card('Workspace', about),
    !isShared && may('post', `${at}/promote`) ? card('Share the workspace', sharing(visit)) : nothing,
    card('Use the platform from a terminal', terminal(visit)),
    isShared ? card('Leave the workspace', leave({ href: address(visit.path, { confirm: 'leave' }) })) : nothing,
  )
}

/** As docs/access.md lists the endpoints of each role. */
export const roleTexts: Readonly<Record<Workspace['role'], string>> = {
  owner: 'everything; a workspace has exactly one owner',
  admin: 'everything except the ownership: people, keys, retention and erasures as well',
  member: 'agents, policies, manifests and incidents',
  auditor: 'reads everything, makes reports and downloads evidence; changes nothing else',
}

const role = piece('<strong>{{role}}</strong>: {{may}}')

function sharing({ csrf, form }: Visit) {
  return share({ csrf, name: field(form, 'name') })
}

const share =
  piece(`<p>This workspace is yours alone. Give it a name to invite other people: its agents, policies, log and keys stay in it, and you
remain its owner. You get a new, empty personal workspace. A shared workspace cannot become a personal one again.</p>
<form method="post" class="bar mb-0"><input type="hidden" name="csrf" value="{{csrf}}">
<div class="flex-fill"><label class="form-label" for="name">Name of the shared workspace</label>
<input class="form-control" id="name" name="name" value="{{name}}" maxlength="100" required autocomplete="organization"></div>
<button class="btn btn-primary" name="act" value="promote">Share the workspace</button></form>`)

function terminal({ url }: Visit) {
  const login = `npx --no-install svc login --url ${url}`
  return terminalView({ url: id(url), login: copyable('the command that logs a terminal in', login) })
}

const terminalView =
  piece(`<p>In a folder where svc is installed, this command opens a page of this dashboard. Approve the code that the command shows.</p>
{{login}}
<p class="mb-0">Address of the platform for agents and programs: {{url}} · <a class="text-link" href="/docs">Description of the API</a></p>`)

const leave = piece(
  '<p>You lose access to the workspace. What you did in it stays in its log.</p><a class="btn btn-outline-danger" href="{{href}}">Leave the workspace …</a>',
)

function leaving({ name, role: own }: Workspace): Question {
  return {
    title: `Leave ${name}?`,
    effects: [
      'You lose access at once, in every browser and program.',
      ...(own === 'owner'
        ? ['The successor who accepted becomes the owner. Without one, transfer the ownership first.']
        : []),
      'Your pending offers in it are revoked. API keys stay: they belong to the workspace.',
      'To return, you need an invitation.',
    ],
    act: 'leave',
    button: 'Leave the workspace',
    back: paths.settings(),
  }
}

const promote: Act = async (visit, form) => {
  await visit.api.change(null, 'post', api`/auth/workspaces/${orgOf(visit)}/promote`, { name: field(form, 'name') })
  return paths.members()
}

const leaveNow: Act = async (visit) => {
  await visit.api.change(null, 'post', api`/auth/workspaces/${orgOf(visit)}/leave`)
  return paths.account
}

export const generalPage: DashboardPage = { path: '/settings', show, acts: { promote, leave: leaveNow } }
