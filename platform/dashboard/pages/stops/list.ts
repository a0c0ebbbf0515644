// The list of stops.
import type { Stop } from '@svc/schemas'
import { agentsOf } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Column, Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { type Html, link, nothing, number, piece, time } from '../../views/html.js'
import type { Visit } from '../../visit.js'
import { stopState, target } from './words.js'

const stops: Listing<Stop> = {
  place: 'agents',
  title: 'Stops',
  path: '/stops',
  schema: 'stop-list',
  rows: 'stops',
  endpoint: '/api/v1/stops',
  filters: [
    {
      kind: 'choice',
      name: 'state',
      label: 'State',
      values: [
        ['stopped', 'on'],
        ['resuming', 'resumed in part'],
        ['resumed', 'ended'],
      ],
    },
    { kind: 'choice', name: 'target', label: 'Stops', values: ['agent', 'key', 'manifest', 'workspace'] },
  ],
  presets: [
    ['On', { state: 'stopped' }],
    ['Resumed in part', { state: 'resuming' }],
  ],
  columns,
  empty:
    'No stop was made yet. A stop blocks the next step of an agent, or of all agents, until a member resumes them.',
  above: async ({ api: { may } }: Visit): Promise<Html> =>
    may('post', '/api/v1/stops') ? make({ href: paths.new_stop() }) : nothing,
}

async function columns(visit: Visit): Promise<readonly Column<Stop>[]> {
  const agents = await agentsOf(visit)
  return [
    { head: 'Reason', cell: ({ id, reason }) => link(paths.stop(id), reason) },
    { head: 'State', cell: ({ state }) => stopState(state) },
    { head: 'Stops', cell: (stop) => target(stop, agents.link) },
    {
      head: 'Set for agents now',
      cell: ({ id, agents: stopped }) => link(paths.agents({ stop_id: id }), number(stopped)),
      numeric: true,
    },
    { head: 'Created', cell: ({ created_at }) => time(created_at) },
    { head: 'Ended', cell: ({ resumed_at }) => time(resumed_at) },
  ]
}

const make =
  piece(`<div class="bar"><a class="btn btn-sm btn-outline-danger push" href="{{href}}">Stop all agents…</a></div>
`)

export const stopsPage = listPage(stops)
