// The forms that create and edit an action.
import type { Action } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { type Agents, agentsOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { paths } from '../../paths.js'
import { type FormField, fieldView } from '../../views/fields.js'
import { piece } from '../../views/html.js'
import { type Act, type Fields, field, type Shown, type Visit } from '../../visit.js'
import { actionPath } from './action.js'
import { secretShown } from './secret.js'
import { kindLabels, kindSentences, kinds, triggers } from './words.js'

type Kind = Action['kind']

async function showNew(visit: Visit): Promise<Shown> {
  const kind = kindIn(visit)
  if (kind === null)
    return {
      title: 'Create an action',
      place: 'actions',
      content: chooseView({
        kinds: kinds.map(([name, label]) => ({
          label,
          text: kindSentences[name],
          href: paths.new_action({ kind: name }),
        })),
      }).toHTML(),
    }
  return formShown(visit, kind, null)
}

const chooseView =
  piece(`<p>An action tells people or programs about incidents and about the platform. Choose how it reaches them.</p>
<section class="card"><div class="list-group list-group-flush">{{#each kinds}}<a class="list-group-item list-group-item-action" href="{{href}}"><div class="fw-bold">{{label}}</div><div class="text-secondary">{{text}}</div></a>
{{/each}}</div></section>
`)

/** The kind of the address; null without one. Throws NOT_FOUND for another text. */
function kindIn({ query }: Visit): Kind | null {
  if (query.kind === undefined) return null
  const known = kinds.find(([name]) => name === query.kind)
  if (known === undefined) throw new PlatformError('NOT_FOUND', 'actions are webhooks, mails or messages in Slack')
  return known[0]
}

async function formShown(visit: Visit, kind: Kind, action: Action | null): Promise<Shown> {
  const agents = await agentsOf(visit)
  const path = action === null ? '/api/v1/actions' : actionPath(visit)
  const isAllowed = visit.api.may(action === null ? 'post' : 'patch', path)
  const typed = Object.keys(visit.form).length > 0 ? visit.form : initialTexts(action)
  const fields = fieldsOf(kind, agents, action)
  const content = formView({
    kind_text: kindSentences[kind],
    fields: fields.map((one) => fieldView(one, typed[one.name] ?? [], visit.errors)),
    is_allowed: isAllowed,
    back: action === null ? paths.actions() : paths.action(action.id),
    save: action === null ? 'Create the action' : 'Save the changes',
    csrf: visit.csrf,
  })
  const title = action === null ? `Create an action: ${kindLabels[kind]}` : `Edit: ${action.name}`
  return { title, place: 'actions', content: content.toHTML() }
}

const formView =
  piece(`<form method="post" class="card"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body"><p>{{kind_text}}</p>
{{#each fields}}{{this}}{{/each}}
{{#if is_allowed}}<div class="btn-list"><button class="btn btn-primary" name="act" value="save">{{save}}</button><a class="btn" href="{{back}}">Cancel</a></div>{{else}}<p class="mb-0">Only owners and admins save actions.</p>{{/if}}</div></form>
`)

function fieldsOf(kind: Kind, agents: Agents, action: Action | null): FormField[] {
  const name = ({ agent_key, name: own }: Agents['listed'][number]) => own || agent_key
  const agent_values = agents.listed.map((agent) => [agent.agent_id, name(agent)] as const)
  return [
    { name: 'name', label: 'Name', kind: 'line', required: true, hint: 'Shown in mails and messages.' },
    receiverField(kind, action),
    { name: 'on', label: 'When', kind: 'checks', values: triggers, required: true },
    {
      name: 'min_severity',
      label: 'Severity',
      kind: 'choice',
      values: [
        ['', 'incidents of every severity'],
        ['medium', 'medium or higher'],
        ['high', 'high or higher'],
        ['critical', 'critical only'],
      ],
    },
    agents.complete
      ? { name: 'agent_ids', label: 'Agents', kind: 'checks', values: agent_values, hint: 'None means all agents.' }
      : { name: 'agent_ids', label: 'Agents', kind: 'lines', hint: 'Ids of agents, one per line; empty for all.' },
    {
      name: 'policy_ids',
      label: 'Policies',
      kind: 'lines',
      hint: 'Ids of policies, one per line; empty for all. The id of a policy of a manifest stands for its later versions too.',
    },
  ]
}

function receiverField(kind: Kind, action: Action | null): FormField {
  if (kind === 'email')
    return { name: 'config.to', label: 'Mail to', kind: 'lines', required: true, hint: 'Addresses, one per line.' }
  const hint =
    kind === 'slack'
      ? 'The address of an incoming webhook of Slack.'
      : 'The address that receives the requests, such as `https://desk.example.com/hooks/svc`.'
  const kept = action === null ? '' : ' Secret parts are not shown: the address stays unless it is changed here.'
  return { name: 'config.url', label: 'Address', kind: 'line', required: true, hint: `${hint}${kept}` }
}

function initialTexts(action: Action | null): Fields {
  if (action === null) return { on: ['incident.created'], min_severity: ['high'] }
  const { name, on, min_severity, agent_ids, policy_ids, config } = action
  return {
    name: [name],
    on,
    min_severity: [min_severity ?? ''],
    agent_ids: agent_ids ?? [],
    policy_ids: [(policy_ids ?? []).join('\n')],
    'config.url': [config.url ?? ''],
    'config.to': [(config.to ?? []).join('\n')],
  }
}

/** The members of the API. Empty limits are null, which means all. */
function bodyOf(kind: Kind, form: Fields) {
  const lines = (name: string) =>
    (form[name] ?? [])
      .flatMap((text) => text.split('\n'))
      .map((line) => line.trim())
      .filter((line) => line !== '')
  const orNull = <T>(list: readonly T[]) => (list.length === 0 ? null : list)
  const ids = lines('policy_ids').map((text) => (/^\d{1,15}$/.test(text) ? Number(text) : text))
  return {
    name: field(form, 'name'),
    on: form.on ?? [],
    min_severity: field(form, 'min_severity') || null,
    agent_ids: orNull(lines('agent_ids')),
    policy_ids: orNull(ids),
    config: kind === 'email' ? { to: lines('config.to') } : { url: field(form, 'config.url').trim() },
  }
}

const create: Act = async (visit, form) => {
  const kind = kindIn(visit)
  if (kind === null)
    throw new PlatformError('INVALID', 'the kind is missing: choose how the action reaches its receiver')
  const { action, secret } = await visit.api.change('made-action', 'post', '/api/v1/actions', {
    kind,
    ...bodyOf(kind, form),
  })
  return secret === null
    ? paths.action(action.id)
    : secretShown({ id: action.id, name: action.name, secret, previous_secret_until: null })
}

async function showEdit(visit: Visit): Promise<Shown> {
  const action = await visit.api.read('action', actionPath(visit))
  return formShown(visit, action.kind, action)
}

const save: Act = async (visit, form) => {
  const { id, kind } = await visit.api.read('action', actionPath(visit))
  await visit.api.change('action', 'patch', actionPath(visit), bodyOf(kind, form))
  return paths.action(id)
}

export const newActionPage: DashboardPage = { path: '/actions/new', show: showNew, acts: { save: create } }
export const editActionPage: DashboardPage = { path: '/actions/:id/edit', show: showEdit, acts: { save } }
