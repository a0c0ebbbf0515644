// The list of agents: which ones are governed now, and the reasons of the others.

import type { Agent } from '@svc/schemas'
import { nameOf } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { badge, type Html, id, joined, link, nothing, number, piece, text, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { listedGovernance, riskLevel } from './words.js'

const levels = ['minimal', 'limited', 'high', 'unacceptable', 'unclassified']
export const environments = ['production', 'staging', 'test', 'development']

const agents: Listing<Agent> = {
  place: 'agents',
  title: 'Agents',
  path: '/agents',
  schema: 'agent-list',
  rows: 'agents',
  endpoint: '/api/v1/agents',
  filters: [
    { kind: 'text', name: 'q', label: 'Name or key contains' },
    { kind: 'choice', name: 'environment', label: 'Environment', values: environments },
    { kind: 'choice', name: 'risk_classification', label: 'Risk level', values: levels },
  ],
  presets: [
    ['Not governed or not known', { governed: 'false' }],
    ['Without an engine', { engine: 'false' }],
    ['Governed', { governed: 'true' }],
    ['Stopped', { stopped: 'true' }],
    ['In production', { environment: 'production' }],
    ['Deactivated', { active: 'false' }],
  ],
  columns: [
    {
      head: 'Agent',
      cell: (agent) => joined([link(paths.agent(agent.agent_id), nameOf(agent)), id(agent.agent_key)]),
    },
    { head: 'Governed', cell: listedGovernance },
    { head: 'Engine', cell: engineOf },
    { head: 'Environment', cell: ({ environment }) => text(environment) },
    { head: 'Risk level', cell: riskLevel },
    { head: 'Open incidents', cell: incidentsOf, numeric: true },
    { head: 'Last step', cell: lastStepOf },
  ],
  empty: 'No agent is registered yet. The overview shows the commands that register the first one.',
  above: stopsOf,
}

/** The engine, or since when none reports. */
function engineOf({ engine, created_at }: Agent): Html {
  if (engine === undefined) return nothing
  const { state, version, last_seen } = engine
  if (last_seen === null) return joined([text('none has reported since its registration,'), time(created_at)])
  if (state === 'silent' || state === 'stopped')
    return joined([badge(state, state === 'silent' ? 'red' : 'secondary'), text('none reports since'), time(last_seen)])
  return joined([text(version), text('seen'), time(last_seen)])
}

/** Steps after the last report are steps that no engine may have evaluated; without any report, the column of the engine says so. */
function lastStepOf({ engine, last_step_at }: Agent): Html {
  if (last_step_at == null) return text('none recorded')
  const isWithout = engine?.state === 'silent' || engine?.state === 'stopped'
  const isLater = isWithout && engine.last_seen !== null && last_step_at > engine.last_seen
  return isLater ? joined([time(last_step_at), badge('after the last report', 'orange')]) : time(last_step_at)
}

function incidentsOf({ agent_id, open_incidents = 0 }: Agent): Html {
  if (open_incidents === 0) return nothing
  return link(paths.open_incidents({ agent_id }), number(open_incidents))
}

/** The stops that are on, and the way to a new one. */
async function stopsOf({ api: { read, may } }: Visit): Promise<Html> {
  const [stopped, resuming] = await Promise.all(
    ['stopped', 'resuming'].map((state) => read('stop-list', '/api/v1/stops', { state, limit: '1' })),
  )
  const on = [
    { total: stopped?.total ?? 0, href: paths.stops({ state: 'stopped' }), label: 'stopped' },
    { total: resuming?.total ?? 0, href: paths.stops({ state: 'resuming' }), label: 'resumed in part' },
  ].filter(({ total }) => total > 0)
  return stops({ on, stops: paths.stops(), make: may('post', '/api/v1/stops') ? paths.new_stop() : '' })
}

const stops =
  piece(`<div class="bar align-items-center">{{#if on}}<span role="status"><span class="badge bg-red-lt">stops are on</span>{{#each on}} <a class="text-link" href="{{href}}">{{total}} {{label}}</a>{{/each}}</span>{{/if}}
<span class="btn-list push"><a class="btn btn-sm" href="{{stops}}">Stops</a>{{#if make}}<a class="btn btn-sm btn-outline-danger" href="{{make}}">Stop all agents…</a>{{/if}}</span></div>
`)

export const agentsPage = listPage(agents)
