// What people change of an agent: its fields, its risk level, and whether it may work. Each form says what it does first.

import type { Agent } from '@svc/schemas'
import { nameOf } from '../../agents.js'
import { api, paths } from '../../paths.js'
import { piece, text } from '../../views/html.js'
import { question } from '../../views/pieces.js'
import { type Act, type Fields, field, type Shown, type Visit } from '../../visit.js'
import { environments } from './list.js'
import { reasons } from './words.js'

/** The form that the address names, for a person who may send it; null without one. */
export function agentForm(visit: Visit, agent: Agent): Shown | null {
  const { api: allowed, query } = visit
  const own = api`/api/v1/agents/${agent.agent_id}`
  if (query.do === 'change' && allowed.may('patch', own)) return changing(visit, agent)
  if (query.do === 'deactivate' && agent.active && allowed.may('delete', own))
    return asked(visit, agent, 'Deactivate', deactivating(agent))
  if (query.do === 'reactivate' && !agent.active && allowed.may('post', `${own}/reactivate`))
    return asked(visit, agent, 'Reactivate', reactivating)
  return null
}

function asked(visit: Visit, agent: Agent, verb: 'Deactivate' | 'Reactivate', effects: readonly string[]): Shown {
  const act = verb.toLowerCase()
  const title = `${verb} ${nameOf(agent)}?`
  const content = question(visit, {
    title,
    effects,
    act,
    button: verb,
    back: paths.agent(agent.agent_id),
    isFinal: false,
  })
  return { title: nameOf(agent), place: 'agents', content: content.toHTML() }
}

/** A deactivation blocks nothing by itself: an engine does, or the platform where the agent asks it. */
function deactivating({ engine }: Agent): string[] {
  const state = engine?.state ?? 'no_engine'
  const trace = state === 'no_engine' ? '' : ' Its engine still delivers the trace of its attempts.'
  return [
    blockedBy(state),
    'If it asks the platform before each step, every answer is to block. Only the end of a task passes.',
    `The platform rejects the steps that it sends itself (403), and does not log them.${trace}`,
    ...lasting,
  ]
}

function blockedBy(state: NonNullable<Agent['engine']>['state']): string {
  if (state === 'enforcing' || state === 'stale_cache')
    return 'Its engine blocks every next step. Only the end of a task passes. A step that runs now is not interrupted.'
  const again = state === 'no_engine' ? '' : ' An engine that reaches the platform again blocks it.'
  return `Nothing is known to block its next step: ${reasons[state]}.${again} Stop its process, or revoke its API key.`
}

const lasting = [
  'It counts neither as governed nor as ungoverned while it is deactivated.',
  'Its log, incidents and policies stay. You can reactivate it at any time.',
]

const reactivating = [
  'The agent may work again, under the policies that apply to it now.',
  'A stop that is on still blocks it: stops are resumed separately.',
]

const changes = ['name', 'owner_id', 'purpose', 'environment', 'risk_classification'] as const
type Changed = (typeof changes)[number]
const labels: Readonly<Record<Changed, string>> = {
  name: 'Name',
  owner_id: 'Owner',
  purpose: 'Purpose',
  environment: 'Environment',
  risk_classification: 'Risk level',
}
const choices: Partial<Record<Changed, readonly string[]>> = {
  environment: environments,
  risk_classification: ['minimal', 'limited', 'high', 'unacceptable', 'unclassified'],
}

function changing({ form: sent, csrf }: Visit, agent: Agent): Shown {
  const fields = changes.map((name) => {
    const value = sent[name] === undefined ? (agent[name] ?? '') : field(sent, name)
    const values = choices[name]?.map((one) => ({ value: one, on: one === value })) ?? []
    return { name, label: labels[name], value, values, long: name === 'purpose' }
  })
  const content = form({
    csrf,
    back: paths.agent(agent.agent_id),
    fields,
    note: text(
      'A value that you set replaces the one that the agent declares, also in later registrations. Empty a field to use what the agent declares again.',
    ),
  })
  return { title: `Change ${nameOf(agent)}`, place: 'agents', content: content.toHTML() }
}

const form =
  piece(`<form class="card narrow" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body"><p>{{note}}</p>{{#each fields}}<div class="mb-3"><label class="form-label" for="c-{{name}}">{{label}}</label>
{{#if values}}<select class="form-select" id="c-{{name}}" name="{{name}}"><option value="">as the agent declares</option>{{#each values}}<option{{#if on}} selected{{/if}}>{{value}}</option>{{/each}}</select>
{{else if long}}<textarea class="form-control" id="c-{{name}}" name="{{name}}" rows="3" maxlength="10000">{{value}}</textarea>
{{else}}<input class="form-control" id="c-{{name}}" name="{{name}}" value="{{value}}" maxlength="1000" autocomplete="off">{{/if}}</div>{{/each}}
<div class="btn-list"><button class="btn btn-primary" name="act" value="change">Change</button><a class="btn" href="{{back}}">Cancel</a></div></div></form>
`)

/** The fields that differ from what the agent has now; an empty one restores what the agent declares. */
function changeIn(agent: Agent, form: Fields) {
  const entries = changes
    .filter((name) => form[name] !== undefined)
    .map((name) => [name, field(form, name).replaceAll('\r\n', '\n')] as const)
    .filter(([name, value]) => value !== (agent[name] ?? '').replaceAll('\r\n', '\n'))
  return Object.fromEntries(entries.map(([name, value]) => [name, value.trim() === '' ? null : value]))
}

const change: Act = async ({ api: platform, params }, form) => {
  const path = api`/api/v1/agents/${params.agent_id ?? ''}`
  const agent = await platform.read('agent', path)
  const changed = changeIn(agent, form)
  if (Object.keys(changed).length > 0) await platform.change('agent', 'patch', path, changed)
  return paths.agent(agent.agent_id)
}

/** The level that the person has seen: the API rejects it if the agent has declared another one since. */
const confirm: Act = async ({ api: platform, params }, form) => {
  const path = api`/api/v1/agents/${params.agent_id ?? ''}`
  await platform.change('agent', 'post', `${path}/confirm`, { risk_classification: field(form, 'level') })
  return paths.agent(params.agent_id ?? '')
}

const deactivate: Act = async ({ api: platform, params }) => {
  await platform.change('agent', 'delete', api`/api/v1/agents/${params.agent_id ?? ''}`)
  return paths.agent(params.agent_id ?? '')
}

const reactivate: Act = async ({ api: platform, params }) => {
  await platform.change('agent', 'post', api`/api/v1/agents/${params.agent_id ?? ''}/reactivate`)
  return paths.agent(params.agent_id ?? '')
}

export const agentActs = { change, confirm, deactivate, reactivate }
