// The list of incidents, one by one.
import type { Incident } from '@svc/schemas'
import { agentLink } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { badge, effectTexts, id, joined, link, nothing, number, severity, state, text, time } from '../../views/html.js'
import { bulkActs } from './bulk.js'
import { tabs } from './tabs.js'

/** The controls of both lists of incidents. */
export const filters: Listing['filters'] = [
  {
    kind: 'choices',
    name: 'state',
    label: 'State',
    values: ['open', ['active', 'in review'], 'resolved', 'ignored'],
  },
  { kind: 'choices', name: 'severity', label: 'Severity', values: ['critical', 'high', 'medium', 'low'] },
  {
    kind: 'choices',
    name: 'effect',
    label: 'Effect',
    values: [
      ['executed', 'executed'],
      ['blocked', 'stopped'],
      ['unknown', 'not known'],
    ],
  },
]

/** The presets of both lists of incidents, of which only one has an order. */
export const presets: Required<Listing>['presets'] = [
  ['Open or in review', { state: 'open,active' }],
  ['Open, critical', { state: 'open', severity: 'critical' }],
  ['Executed anyway', { state: 'open,active', effect: 'executed' }],
]

export const incidents: Listing<Incident> = {
  place: 'incidents',
  title: 'Incidents',
  path: '/incidents',
  schema: 'incident-list',
  rows: 'incidents',
  endpoint: '/api/v1/incidents',
  filters: [
    ...filters,
    { kind: 'choice', name: 'mode', label: 'Mode', values: ['enforce', 'observe'] },
    { kind: 'text', name: 'q', label: 'Policy contains' },
    { kind: 'day', name: 'from', label: 'First seen from (UTC)' },
    { kind: 'day', name: 'to', label: 'First seen to (UTC)' },
    {
      kind: 'choice',
      name: 'order',
      label: 'Order',
      values: [['severity', 'most severe first']],
      any: 'newest first',
    },
  ],
  presets: presets.map(([label, query]) => [label, { ...query, order: 'severity' }] as const),
  columns: [
    {
      head: 'Incident',
      cell: (incident, filter) => link(paths.incident(incident.id, filter), incident.policy_name),
    },
    {
      head: 'Severity',
      cell: ({ severity: value, mode }) =>
        joined([severity(value), mode === 'observe' ? badge('observed only') : nothing]),
    },
    { head: 'State', cell: (incident) => state(incident.state) },
    { head: 'Effect', cell: ({ effect }) => text(effectTexts[effect]) },
    { head: 'Agent', cell: agentLink },
    {
      head: 'Task',
      cell: ({ task_id, step }) => (task_id === null ? nothing : id(task_id, paths.task(task_id, { around: step }))),
    },
    { head: 'Count', cell: ({ occurrences }) => text(number(occurrences)), numeric: true },
    { head: 'Last seen', cell: ({ last_seen }) => time(last_seen) },
  ],
  above: async ({ query }) => tabs('incidents', query),
  empty: 'No policy was violated yet. Incidents appear here when a recorded step violates a policy.',
  bulk: {
    may: ({ api }) => api.may('post', '/api/v1/incidents/bulk'),
    value: (incident) => incident.id,
    label: ({ policy_name }) => policy_name,
    acts: [
      ['review', 'Start review…'],
      ['resolve', 'Resolve…'],
      ['ignore', 'Ignore…'],
    ],
  },
}

export const incidentsPage = listPage(incidents, bulkActs)
