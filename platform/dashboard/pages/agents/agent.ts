// The page of an agent: who it is, whether it is governed and by which policies, the tools that it uses, and what people can do.

import type { Agent } from '@svc/schemas'
import { nameOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { address, api, paths } from '../../paths.js'
import { id, json, link, mailAddress, number, piece, text, time } from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import type { Shown, Visit } from '../../visit.js'
import { agentActs, agentForm } from './acts.js'
import { governanceOf } from './governance.js'
import { latestOf } from './latest.js'
import { manifestsOf } from './manifests.js'
import { stopsOf } from './stops.js'
import { toolsOf } from './tools.js'
import { riskLevel } from './words.js'

async function show(visit: Visit): Promise<Shown> {
  const { read } = visit.api
  const agent = await read('agent', api`/api/v1/agents/${visit.params.agent_id ?? ''}`)
  const asked = agentForm(visit, agent)
  if (asked !== null) return asked
  const [stops, governance, manifests, tools, latest] = await Promise.all([
    stopsOf(visit, agent),
    governanceOf(visit, agent),
    manifestsOf(visit, agent),
    toolsOf(visit, agent),
    latestOf(visit, agent),
  ])
  const content = page({
    buttons: buttonsOf(visit, agent),
    confirm: confirmOf(visit, agent),
    csrf: visit.csrf,
    live: visit.here,
    stops,
    governance,
    manifests,
    tools,
    latest,
    facts: factsOf(agent),
  })
  return { title: nameOf(agent), place: 'agents', content: content.toHTML() }
}

const page =
  piece(`{{#if buttons}}<div class="btn-list mb-3 no-print">{{#each buttons}}<a class="btn{{#if danger}} btn-outline-danger{{/if}}" href="{{href}}">{{label}}</a>{{/each}}</div>{{/if}}
<div class="row"><div class="col-xl-9">
{{#if confirm}}<section class="card"><form class="card-body bar mb-0" method="post"><input type="hidden" name="csrf" value="{{csrf}}">
<input type="hidden" name="level" value="{{confirm.level}}"><div class="grow"><h2 class="h3 mb-1">A lower risk level waits</h2>{{confirm.text}}</div>
{{#if confirm.may}}<button class="btn btn-primary" name="act" value="confirm">Confirm the level {{confirm.level}}</button>{{/if}}</form></section>{{/if}}
<div id="live" hx-get="{{live}}" hx-trigger="every 5s" hx-select="#live" hx-target="#live" hx-swap="outerHTML">{{stops}}{{governance}}</div>
{{manifests}}{{tools}}{{latest}}
</div><div class="col-xl-3"><section class="card"><div class="card-body">{{facts}}</div></section></div></div>
`)

/** Links to the forms, for a person who may send them. */
function buttonsOf({ api: { may }, path }: Visit, { agent_id, active }: Agent) {
  const own = api`/api/v1/agents/${agent_id}`
  const form = (name: string) => address(path, { do: name })
  return [
    ...(may('patch', own) ? [{ label: 'Change…', href: form('change'), danger: false }] : []),
    ...(may('post', '/api/v1/stops') ? [{ label: 'Stop…', href: paths.new_stop({ agent_id }), danger: true }] : []),
    ...(active && may('delete', own) ? [{ label: 'Deactivate…', href: form('deactivate'), danger: false }] : []),
    ...(!active && may('post', `${own}/reactivate`)
      ? [{ label: 'Reactivate…', href: form('reactivate'), danger: false }]
      : []),
  ]
}

/** A lower level that the agent declares and that does not take effect yet; null without one. */
function confirmOf({ api: { may } }: Visit, agent: Agent) {
  const { agent_id, waits_for_confirmation, effective_risk_classification: now, risk_classification: level } = agent
  if (waits_for_confirmation !== true) return null
  return {
    level,
    may: may('post', api`/api/v1/agents/${agent_id}/confirm`),
    text: `The agent declares the level ${level}. Policies use ${now} until a member confirms the lower level: policies for ${now} then no longer apply.`,
  }
}

function factsOf(agent: Agent) {
  const { agent_id, agent_key, owner_id, purpose, environment, attributes, created_at, updated_at } = agent
  const open = agent.open_incidents ?? 0
  return facts(
    [
      ['Key', id(agent_key)],
      ['Owner', owner_id === null ? text('not set') : mailAddress(owner_id)],
      ['Purpose', text(purpose ?? 'not set')],
      ['Environment', text(environment)],
      ['Risk level', riskLevel(agent)],
      ['Open incidents', open === 0 ? text('none') : link(paths.open_incidents({ agent_id }), number(open))],
      ['Last step', agent.last_step_at == null ? text('none recorded') : time(agent.last_step_at)],
      ['Registered', time(created_at)],
      ['Changed', time(updated_at)],
      ['Agent', id(agent_id)],
      ['History', link(paths.events({ subject: agent_id }), 'in the audit trail')],
      ...(Object.keys(attributes).length === 0 ? [] : [['Attributes', json(attributes)] as const]),
    ],
    'narrow',
  )
}

export const agentPage: DashboardPage = { path: '/agents/:agent_id', show, acts: agentActs }
