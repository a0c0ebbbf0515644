// The page of a stop: what it blocks, the attempts that it blocked, its stages, and the form that resumes its agents.

import type { Agent, Stop, StopResume } from '@svc/schemas'
import { PlatformError } from '../../../errors.js'
import { type Agents, nameOf as agentName, agentsOf } from '../../agents.js'
import type { DashboardPage } from '../../page.js'
import { api, paths } from '../../paths.js'
import { decidersOf, type Named } from '../../people.js'
import { counted, countedOrNone, id, link, nothing, number, piece, text, time } from '../../views/html.js'
import { facts } from '../../views/pieces.js'
import { type Act, type Fields, field, type Shown, type Visit } from '../../visit.js'
import { agentGap, agentsGap, type Gap } from './engines.js'
import { stopState, target, targetWords } from './words.js'

async function show(visit: Visit): Promise<Shown> {
  const { api: platform, params, query } = visit
  const path = api`/api/v1/stops/${params.id ?? ''}`
  const [stop, nameOf, agents] = await Promise.all([platform.read('stop', path), decidersOf(visit), agentsOf(visit)])
  const only = await targetOf(visit, stop)
  const may = stop.state !== 'resumed' && platform.may('post', `${path}/resume`)
  if (query.do === 'resume' && may) return resuming(visit, stop, only ?? (await agentOf(visit)))
  const { warning: gap, enforcing } = await gapOf(visit, stop, only)
  const content = page({
    state: stopState(stop.state, stop.agents === 0 || enforcing > 0 || (stop.blocked_attempts ?? []).length > 0),
    verb: verbOf(stop),
    reason: stop.reason,
    target: target(stop, agents.link),
    gap,
    sentence: sentenceOf(stop, enforcing),
    resume: may ? paths.stop(stop.id, { do: 'resume' }) : '',
    stages: stop.stages.map((stage) => stageOf(stage, nameOf)),
    attempts: (stop.blocked_attempts ?? []).map(({ agent_id, count, last_at }) => ({
      agent: agents.link(agent_id),
      count: link(paths.tasks({ agent_id }), number(count)),
      last: time(last_at),
    })),
    facts: factsOf(stop, nameOf, agents),
  })
  return {
    title: `Stop of ${only === null ? targetWords[stop.target.kind] : agentName(only)}`,
    place: 'agents',
    content: content.toHTML(),
  }
}

const page = piece(`<div class="row"><div class="col-xl-8">
{{gap}}<section class="card"><div class="card-body"><p class="mb-2">{{state}} {{verb}} {{target}}</p><p class="lines fs-3 mb-2"><bdi>{{reason}}</bdi></p><p class="mb-0">{{sentence}}</p>
{{#if resume}}<p class="mt-3 mb-0"><a class="btn btn-primary" href="{{resume}}">Resume…</a></p>{{/if}}</div></section>
<section class="card"><div class="card-header"><h2 class="card-title">Attempts that it blocked</h2></div>
{{#if attempts}}<table class="table rows"><thead><tr><th scope="col">Agent</th><th scope="col" class="num">Attempts</th><th scope="col">Last</th></tr></thead><tbody>
{{#each attempts}}<tr><td data-label="Agent">{{agent}}</td><td data-label="Attempts" class="num">{{count}}</td><td data-label="Last">{{last}}</td></tr>
{{/each}}</tbody></table>{{else}}<div class="empty-state">No blocked attempt was recorded.</div>{{/if}}</section>
<section class="card"><div class="card-header"><h2 class="card-title">Stages of its resumption</h2></div>
{{#if stages}}<table class="table rows"><thead><tr><th scope="col">Time</th><th scope="col">By</th><th scope="col">Resumed</th><th scope="col">Note</th></tr></thead><tbody>
{{#each stages}}<tr><td data-label="Time">{{at}}</td><td data-label="By">{{by}}</td><td data-label="Resumed">{{what}}</td><td data-label="Note"><bdi>{{note}}</bdi></td></tr>
{{/each}}</tbody></table>{{else}}<div class="empty-state">No agent was resumed yet.</div>{{/if}}</section>
</div><div class="col-xl-4"><section class="card"><div class="card-body">{{facts}}</div></section></div></div>
`)

function verbOf({ state }: Stop): string {
  return state === 'resumed' ? 'Stopped' : 'Stops'
}

/** A stop is an order to engines; `enforcing` is the number of its agents whose engines report that they enforce. */
function sentenceOf({ state, agents, target: { kind } }: Stop, enforcing: number): string {
  if (state === 'resumed') return 'The stop has ended. Another stop may still block some of its agents.'
  const later = kind === 'agent' ? '' : ' It is set for agents that come under it later as well.'
  if (agents === 0) return `Stop set for no agent now.${later}`
  const effect = enforcing >= agents ? ': every next step is blocked' : ''
  const how = enforcing === 0 ? '' : ' An engine confirms by reporting that it enforces.'
  return `Stop set for ${counted(agents, 'agent')}; ${number(enforcing)} confirmed by an engine${effect}.${how}${later}`
}

function stageOf({ at, by, agents, percent, note }: Stop['stages'][number], nameOf: Named) {
  return {
    at: time(at),
    by: nameOf(by),
    what: `${countedOrNone(agents, 'agent')}${percent === null ? '' : `, up to ${percent} %`}`,
    note: note ?? '',
  }
}

function factsOf(stop: Stop, nameOf: Named, agents: Agents) {
  return facts(
    [
      [verbOf(stop), target(stop, agents.link)],
      ['Set for agents now', link(paths.agents({ stop_id: stop.id }), number(stop.agents))],
      ['Created', time(stop.created_at)],
      ['By', nameOf(stop.created_by)],
      ['Ended', stop.resumed_at === null ? text('not yet') : time(stop.resumed_at)],
      ['Policy', link(paths.policy(stop.policy_id), `Stop ${stop.id}`)],
      ['Stop', id(stop.id)],
      ['History', link(paths.events({ subject: stop.id }), 'in the audit trail')],
    ],
    'narrow',
  )
}

/** Which of its agents no engine is known to block. */
async function gapOf(visit: Visit, { id: stop_id, agents, state }: Stop, only: Agent | null): Promise<Gap> {
  if (agents === 0 || state === 'resumed') return { enforcing: 0, warning: nothing }
  if (only === null) return agentsGap(visit, { stop_id })
  const warning = agentGap(visit, only)
  return { enforcing: warning === nothing ? 1 : 0, warning }
}

/** The agent that the stop names; null for a stop of several. */
async function targetOf({ api: { read } }: Visit, { target: { kind, id: agent_id } }: Stop): Promise<Agent | null> {
  return kind === 'agent' && agent_id !== null ? read('agent', api`/api/v1/agents/${agent_id}`) : null
}

/** The agent from whose page the form was opened; null without one. */
async function agentOf({ api: { read }, query: { agent_id } }: Visit): Promise<Agent | null> {
  return agent_id === undefined ? null : read('agent', api`/api/v1/agents/${agent_id}`)
}

/** The form that resumes agents, with what each choice does. */
function resuming({ csrf, form }: Visit, stop: Stop, agent: Agent | null): Shown {
  const isOne = stop.target.kind === 'agent'
  const share = {
    value: 'percent',
    label: 'A share of its agents',
    note: 'A whole number from 1 to 100. A hash chooses the agents. 50 % after 10 % resumes forty more of a hundred. The others stay stopped.',
  }
  const one = {
    value: 'agent',
    label: agent === null ? '' : `Only ${agentName(agent)}`,
    note: 'The other agents of the stop stay stopped.',
  }
  const all = {
    value: 'all',
    label: `All that are still stopped (${counted(stop.agents, 'agent')} now)`,
    note: 'The stop ends, and agents that come later are not stopped by it. Another stop may still block some of them.',
  }
  const choices = isOne ? [] : [...(agent === null ? [] : [one]), share, all]
  const chosen = field(form, 'choice') || choices[0]?.value
  const content = resumeView({
    csrf,
    reason: stop.reason,
    ends: isOne,
    choices: choices.map((choice) => ({ ...choice, on: choice.value === chosen, asks: choice === share })),
    percent: field(form, 'percent') || '10',
    note: field(form, 'note'),
    back: paths.stop(stop.id),
  })
  return {
    title: isOne && agent !== null ? `Resume ${agentName(agent)}` : 'Resume stopped agents',
    place: 'agents',
    content: content.toHTML(),
  }
}

const resumeView =
  piece(`<form class="card narrow" method="post"><input type="hidden" name="csrf" value="{{csrf}}"><div class="card-body">
<p>Stopped because: <strong><bdi>{{reason}}</bdi></strong></p>
{{#if ends}}<input type="hidden" name="choice" value="all"><p>The stop ends. Another stop may still block the agent.</p>
{{else}}<fieldset class="mb-3"><legend class="form-label">Resume</legend>{{#each choices}}<div class="form-check"><input class="form-check-input" type="radio" name="choice" id="r-{{value}}" value="{{value}}"{{#if on}} checked{{/if}}>
<label class="form-check-label" for="r-{{value}}"><bdi>{{label}}</bdi></label><span class="form-check-description">{{note}}</span>
{{#if asks}}<div class="input-group input-group-sm percent mt-1"><input class="form-control" type="number" name="percent" min="1" max="100" value="{{../percent}}" aria-label="Share in percent"><span class="input-group-text">%</span></div>{{/if}}</div>{{/each}}</fieldset>{{/if}}
<div class="mb-3"><label class="form-label" for="note">Note (optional), such as what was repaired</label><textarea class="form-control" id="note" name="note" rows="2" maxlength="1000">{{note}}</textarea></div>
<p class="text-secondary">Resumed agents may take their next step at once, under the policies that apply to them. The audit trail keeps who resumed them, when, and the note.</p>
<div class="btn-list"><button class="btn btn-primary" name="act" value="resume">Resume</button><a class="btn" href="{{back}}">Cancel</a></div></div></form>
`)

const resume: Act = async ({ api: platform, params, query }, form) => {
  const path = api`/api/v1/stops/${params.id ?? ''}/resume`
  await platform.change('stop', 'post', path, stageIn(query.agent_id, form))
  return paths.stop(params.id ?? '')
}

function stageIn(agent_id: string | undefined, form: Fields): StopResume {
  const note = field(form, 'note').trim() === '' ? {} : { note: field(form, 'note') }
  const choice = field(form, 'choice')
  if (choice === 'all') return note
  if (choice === 'agent' && agent_id !== undefined) return { agent_ids: [agent_id], ...note }
  const percent = field(form, 'percent')
  if (choice !== 'percent') throw new PlatformError('INVALID', 'choose which agents to resume')
  if (!/^\d{1,3}$/.test(percent))
    throw new PlatformError('INVALID', 'the share must be a whole number from 1 to 100, such as 10')
  return { percent: Number(percent), ...note }
}

export const stopPage: DashboardPage = { path: '/stops/:id', show, acts: { resume } }
