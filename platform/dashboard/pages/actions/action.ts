// The page of an action: what triggers it, its receiver, a test, its secret, and its deliveries.

import type { Action, ActionTest } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { agentsOf } from '../../agents.js'
import { listOf } from '../../lists/list-page.js'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { decidersOf, type Named } from '../../people.js'
import { confirmView } from '../../views/fields.js'
import { badge, type Html, id, joined, link, nothing, piece, text, time } from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import type { Act, Shown, Visit } from '../../visit.js'
import { deliveriesOf } from './deliveries.js'
import { receiverText, stateBadges } from './list.js'
import { secretShown } from './secret.js'
import { kindLabels, triggerLabel } from './words.js'

/** The address of the action in the API. */
export function actionPath({ params }: Pick<Visit, 'params'>): string {
  return api`/api/v1/actions/${params.id ?? ''}`
}

const show = (visit: Visit): Promise<Shown> => shown(visit, nothing)

async function shown(visit: Visit, result: Html): Promise<Shown> {
  const action = await visit.api.read('action', actionPath(visit))
  const [agents, nameOf, deliveries] = await Promise.all([
    agentsOf(visit),
    decidersOf(visit),
    listOf(visit, deliveriesOf(visit)),
  ])
  const isAllowed = visit.api.may('post', `${actionPath(visit)}/test`)
  const { error, retry_at } = action.receiver
  const content = view({
    result,
    state: stateBadges(action),
    triggers: action.on.map((name) => ({ name, label: triggerLabel(name) })),
    limits: limitsOf(action, agents.link),
    facts: facts(factsOf(action, nameOf)),
    problem: error ?? '',
    retry: time(retry_at),
    acts: isAllowed ? actsOf(action) : [],
    edit: paths.edit_action(action.id),
    remove: paths.delete_action(action.id),
    csrf: visit.csrf,
    here: visit.here,
    deliveries,
  })
  return { title: action.name, place: 'actions', content: content.toHTML() }
}

const view =
  piece(`{{result}}{{#if problem}}<div class="alert alert-warning"><div>The receiver could not be reached: <bdi>{{problem}}</bdi>. Deliveries wait{{#if retry}} until the next attempt, {{retry}}{{/if}}.</div></div>
{{/if}}<div class="row"><div class="col-lg-8"><section class="card"><div class="card-body"><p class="mb-2">{{state}}</p>
<h2 class="h3">When</h2><ul>{{#each triggers}}<li>{{label}} <code class="text-secondary">{{name}}</code></li>{{/each}}</ul>
<h2 class="h3">Only</h2><ul class="mb-0">{{#each limits}}<li>{{this}}</li>{{/each}}</ul></div>
{{#if acts}}<form class="card-footer no-print" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="btn-list">
{{#each acts}}<button class="btn{{#if @first}} btn-primary{{/if}}" name="act" value="{{name}}">{{label}}</button>{{/each}}<a class="btn" href="{{edit}}">Edit</a><a class="btn" href="{{remove}}">Delete</a></div></form>{{/if}}</section></div>
<div class="col-lg-4"><section class="card"><div class="card-header"><h2 class="card-title">Receiver</h2></div><div class="card-body">{{facts}}</div></section></div></div>
<h2 class="h3" id="deliveries">Deliveries</h2>
<div id="live" hx-get="{{here}}" hx-trigger="every 5s" hx-select="#live" hx-target="#live" hx-swap="outerHTML">{{deliveries}}</div>`)

/** The conditions of the action; lists of agents and policies as links. */
function limitsOf({ min_severity, agent_ids, policy_ids }: Action, agentLink: (agent_id: string) => Html): Html[] {
  const policies = policy_ids?.map((policy_id) => link(paths.policy(policy_id), `policy ${policy_id}`))
  return [
    text(min_severity === null ? 'incidents of every severity' : `incidents of severity ${min_severity} or higher`),
    agent_ids === null ? text('every agent') : joined(agent_ids.map(agentLink), ', '),
    policies === undefined ? text('every policy') : joined(policies, ', '),
  ]
}

function factsOf(action: Action, nameOf: Named): (readonly [string, Html])[] {
  const { kind, previous_secret_until, created_at, created_by, updated_at } = action
  return [
    ['Kind', text(kindLabels[kind])],
    [kind === 'email' ? 'Mail to' : 'Address', receiverText(action)],
    ...(previous_secret_until === null
      ? []
      : [
          [
            'Previous secret',
            joined([badge('signs too', 'yellow'), text('until'), time(previous_secret_until)]),
          ] as const,
        ]),
    ['Action id', id(action.id)],
    ['Created', time(created_at)],
    ['By', nameOf(created_by)],
    ['Changed', time(updated_at)],
    ['Changes', link(paths.events({ kind: 'action.', subject: action.id }), 'in the audit trail')],
  ]
}

function actsOf({ enabled, kind }: Action) {
  return [
    { name: 'test', label: 'Send a test' },
    enabled ? { name: 'disable', label: 'Disable' } : { name: 'enable', label: 'Enable' },
    ...(kind === 'webhook' ? [{ name: 'rotate', label: 'New secret' }] : []),
  ]
}

/** Shows what the receiver answered to the test. */
const test: Act = async (visit) => {
  const answer = await visit.api.change('action-test', 'post', `${actionPath(visit)}/test`)
  return shown(visit, testView(wordsOfTest(answer)))
}

function wordsOfTest({ delivered, status, duration_ms, body, error }: ActionTest) {
  const answered = status === null ? 'The receiver gave no answer' : `The receiver answered with status ${status}`
  return {
    tone: delivered ? 'success' : 'danger',
    title: delivered ? 'The test was delivered' : 'The test was not delivered',
    text: `${answered} after ${duration_ms.toLocaleString('en')} ms.`,
    error: error ?? '',
    body: body ?? '',
  }
}

const testView =
  piece(`<div class="alert alert-{{tone}}" role="status"><div><h2 class="alert-title">{{title}}</h2><div>{{text}}</div>
{{#if error}}<div class="lines"><bdi>{{error}}</bdi></div>{{/if}}{{#if body}}<div>It answered: <code><bdi>{{body}}</bdi></code></div>{{/if}}</div></div>
`)

const switched =
  (move: 'enable' | 'disable'): Act =>
  async (visit) => {
    await visit.api.change('action', 'post', `${actionPath(visit)}/${move}`)
    return visit.here
  }

const rotate: Act = async (visit) => {
  const { name, id: action_id } = await visit.api.read('action', actionPath(visit))
  const { secret, previous_secret_until } = await visit.api.change(
    'action-secret',
    'post',
    `${actionPath(visit)}/rotate-secret`,
  )
  return secretShown({ name, id: action_id, secret, previous_secret_until })
}

export const actionPage: DashboardPage = {
  path: '/actions/:id',
  show,
  listing: deliveriesOf,
  acts: { test, enable: switched('enable'), disable: switched('disable'), rotate },
}

async function showDelete(visit: Visit): Promise<Shown> {
  const { id: action_id, name } = await visit.api.read('action', actionPath(visit))
  if (!visit.api.may('delete', actionPath(visit)))
    throw new PlatformError('FORBIDDEN', 'your role reads actions and does not delete them')
  const content = confirmView({
    csrf: visit.csrf,
    lines: [
      'Nothing is sent from then on, and pending deliveries are cancelled. This cannot be undone.',
      'To stop it for a time, disable it instead: its deliveries then wait.',
    ],
    label: 'Delete the action',
    back: paths.action(action_id),
  })
  return { title: `Delete: ${name}`, place: 'actions', content: content.toHTML() }
}

const remove: Act = async (visit) => {
  await visit.api.change(null, 'delete', actionPath(visit))
  return paths.actions()
}

export const deleteActionPage: DashboardPage = {
  path: '/actions/:id/delete',
  show: showDelete,
  acts: { delete: remove },
}
