// The list of incidents, one by one.
import type { Incident } from '@svc/schemas'
import { agentLink } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Column, Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { decidersOf, type Named } from '../../people.js'
import {
  badge,
  effectTexts,
  type Html,
  id,
  joined,
  nothing,
  number,
  piece,
  severity,
  state,
  text,
  time,
} from '../../views/html.js'
import { violated } from '../../views/violation.js'
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
  { kind: 'person', name: 'reviewed_by', label: 'Taken by' },
]

/** The presets of both lists of incidents, of which only one has an order. */
export const presets: Required<Listing>['presets'] = [
  ['Open or in review', { state: 'open,active' }],
  [
    'Critical, not taken',
    { state: 'open', severity: 'critical' },
    'Critical incidents that are open: no one has started their review.',
  ],
  [
    'My open, critical',
    { state: 'active', severity: 'critical', reviewed_by: 'me' },
    'Critical incidents in review by you: those whose review you started, and those that you reactivated.',
  ],
  [
    'Taken by me',
    { state: 'active', reviewed_by: 'me' },
    'Incidents in review by you: those whose review you started, and those that you reactivated.',
  ],
  ['Open, executed', { state: 'open,active', effect: 'executed' }],
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
      values: [['severity', 'by severity']],
      any: 'newest first',
    },
  ],
  presets: presets.map(([label, query, about]) => [label, { ...query, order: 'severity' }, about] as const),
  columns: async (visit) => columnsWith(await decidersOf(visit)),
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

const columnsWith = (nameOf: Named): readonly Column<Incident>[] => [
  {
    head: 'Incident',
    cell: ({ id: one, policy_name, violation_details: { reason } }, filter) =>
      violated({ policy_name, reason, href: paths.incident(one, filter) }),
  },
  {
    head: 'Severity',
    cell: ({ severity: value, mode }) =>
      joined([severity(value), mode === 'observe' ? badge('observed only') : nothing]),
  },
  { head: 'State', cell: ({ state: now, reviewed_by }) => joined([state(now), byWhom(nameOf(reviewed_by))]) },
  { head: 'Effect', cell: ({ effect }) => text(effectTexts[effect]) },
  { head: 'Agent', cell: agentLink },
  {
    head: 'Task',
    cell: ({ task_id, step }) => (task_id === null ? nothing : id(task_id, paths.task(task_id, { around: step }))),
  },
  { head: 'Count', cell: ({ occurrences }) => text(number(occurrences)), numeric: true },
  { head: 'Last seen', cell: ({ last_seen }) => time(last_seen) },
]

/** Who moved an incident last; nothing for one that no one has moved. */
function byWhom(name: Html): Html {
  return name.toHTML() === '' ? nothing : by({ name })
}

const by = piece('<div class="text-secondary small">by {{name}}</div>')

export const incidentsPage = listPage(incidents, bulkActs)
