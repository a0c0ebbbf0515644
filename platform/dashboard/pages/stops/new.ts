// The page that stops agents: it says what a stop does before the button is pressed.

import type { StopRequest } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { nameOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { counted, piece } from '../../views/html.js'
import { type Act, field, type Shown, type Visit } from '../../visit.js'
import { agentGap, agentsGap } from './engines.js'

async function show(visit: Visit): Promise<Shown> {
  const { api: platform, query, form } = visit
  if (!platform.may('post', '/api/v1/stops'))
    return { title: 'Stop agents', place: 'agents', content: forbidden({}).toHTML() }
  const { agent_id } = query
  const agent = agent_id === undefined ? null : await platform.read('agent', api`/api/v1/agents/${agent_id}`)
  const { total } = await platform.read('agent-list', '/api/v1/agents', { limit: '1' })
  const chosen = field(form, 'target') || (agent === null ? 'workspace' : 'agent')
  const targets = [
    ...(agent === null
      ? []
      : [
          { value: 'agent', label: `Only ${nameOf(agent)}`, note: 'Other agents continue.' },
          {
            value: 'key',
            label: `Every agent of the API key of ${nameOf(agent)}`,
            note: 'Also agents that register with this key later. Choose this if the key may be in wrong hands, and revoke the key as well.',
          },
        ]),
    {
      value: 'workspace',
      label: `Every agent of the workspace (${counted(total, 'agent')} now)`,
      note: 'Also agents that register later.',
    },
  ]
  const content = view({
    csrf: visit.csrf,
    targets: targets.map((one) => ({ ...one, on: one.value === chosen })),
    warning: agent === null ? (await agentsGap(visit, {}, false)).warning : agentGap(visit, agent, false),
    reason: field(form, 'reason'),
    back: agent === null ? paths.stops() : paths.agent(agent.agent_id),
  })
  return { title: agent === null ? 'Stop agents' : `Stop ${nameOf(agent)}`, place: 'agents', content: content.toHTML() }
}

const forbidden = piece('<p>Your role may not stop agents: ask an owner, admin or member of the workspace.</p>')

const view =
  piece(`<form class="card narrow" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body">
{{warning}}<fieldset class="mb-3"><legend class="form-label">Stop</legend>{{#each targets}}<label class="form-check"><input class="form-check-input" type="radio" name="target" value="{{value}}"{{#if on}} checked{{/if}}>
<span class="form-check-label"><bdi>{{label}}</bdi></span><span class="form-check-description">{{note}}</span></label>{{/each}}</fieldset>
<div class="mb-3"><label class="form-label" for="reason">Reason (required), which every blocked step says</label>
<textarea class="form-control" id="reason" name="reason" rows="2" maxlength="1000" required>{{reason}}</textarea></div>
<h2 class="h3">What happens</h2><ul>
<li>An engine that enforces blocks every next step of its agent. Only the end of a task passes. A step that runs now is not interrupted: stop its process too if it must not finish.</li>
<li>Connected local engines block within a second, others at their next call to the platform. An agent that asks neither an engine nor the platform is not stopped: its recorded steps raise critical incidents.</li>
<li>No waiver, approval, pinned version or risk level lifts the stop. It stays on until a member resumes it, at once or in stages.</li>
<li>The audit trail and the log keep who stopped, when, and the reason.</li></ul>
<div class="btn-list"><button class="btn btn-danger" name="act" value="stop">Stop now</button><a class="btn" href="{{back}}">Cancel</a></div></div></form>
`)

const stop: Act = async ({ api: platform, query }, form) => {
  const { id } = await platform.change('stop', 'post', '/api/v1/stops', requestOf(query.agent_id, form))
  return paths.stop(id)
}

function requestOf(agent_id: string | undefined, form: Parameters<Act>[1]): StopRequest {
  const reason = field(form, 'reason')
  if (reason.trim() === '')
    throw new PlatformError('INVALID', 'the reason is missing: write why the agents are stopped')
  const target = field(form, 'target')
  if (target === 'workspace') return { workspace: true, reason }
  if (agent_id === undefined || !['agent', 'key'].includes(target))
    throw new PlatformError('INVALID', 'choose which agents to stop')
  return { agent_id, reason, ...(target === 'key' && { with_key: true }) }
}

export const newStopPage: DashboardPage = { path: '/stops/new', show, acts: { stop } }
