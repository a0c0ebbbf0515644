// Incidents with the same policy, agent, code and effect as one row.
import type { IncidentGroup } from '@svc/schemas'
import type { Query } from '../../../http/query.js'
import { agentLink } from '../../agents.js'
import { listPage } from '../../lists/list-page.js'
import type { Listing } from '../../lists/listing.js'
import { paths } from '../../paths.js'
import { effectTexts, link, nothing, number, piece, severity, text, time } from '../../views/html.js'
import { violated } from '../../views/violation.js'
import { filters, presets } from './list.js'
import { tabs } from './tabs.js'

const groups: Listing<IncidentGroup> = {
  place: 'incidents',
  title: 'Groups of incidents',
  path: '/incidents/groups',
  schema: 'incident-group-list',
  rows: 'groups',
  endpoint: '/api/v1/incidents/groups',
  filters: [...filters, { kind: 'text', name: 'q', label: 'Policy contains' }],
  presets,
  columns: [
    { head: 'Policy and latest reason', cell: policyOf },
    { head: 'Agent', cell: agentLink },
    { head: 'Effect', cell: ({ effect }) => text(effectTexts[effect]) },
    { head: 'Incidents', cell: (group, filter) => link(listOf(group, filter), number(group.incidents)), numeric: true },
    { head: 'Open', cell: openOf, numeric: true },
    {
      head: 'Violations',
      cell: (group, filter) => link(listOf(group, filter), number(group.occurrences)),
      numeric: true,
    },
    {
      head: 'First and last seen',
      cell: ({ first_seen, last_seen }) => seen({ times: [time(first_seen), time(last_seen)] }),
    },
    {
      head: 'Answer',
      may: ({ api }) => api.may('post', '/api/v1/incidents/bulk'),
      cell: (group, filter) =>
        group.open === 0
          ? nothing
          : act({
              link: link(paths.resolve_all({ ...exactly(group, filter), ...openIn(filter) }), resolveText(group)),
            }),
    },
  ],
  above: async ({ query }) => tabs('groups', query),
  empty: 'No policy was violated yet. Groups appear here when a recorded step violates a policy.',
}

/** The incidents of the group that the filter of the groups selects. */
function exactly({ policy_id, agent_id, code, effect }: IncidentGroup, filter: Query) {
  return { ...filter, policy_id, agent_id, code, effect }
}

function listOf(group: IncidentGroup, filter: Query): string {
  return paths.incidents(exactly(group, filter))
}

/** The states of open incidents that the filter selects. */
function openIn({ state }: Query): { readonly state: string } {
  const selected = ['open', 'active'].filter((one) => state === undefined || state.split(',').includes(one))
  return { state: selected.join(',') }
}

function openOf(group: IncidentGroup, filter: Query) {
  if (group.open === 0) return text(0)
  return link(paths.incidents({ ...exactly(group, filter), ...openIn(filter) }), number(group.open))
}

function policyOf(group: IncidentGroup, filter: Query) {
  const { reason, latest_incident_id, policy_name } = group
  return violated({
    policy_name,
    reason,
    href: listOf(group, filter),
    marks: severity(group.severity),
    more: link(paths.incident(latest_incident_id, exactly(group, filter)), 'Latest incident'),
  })
}

const act = piece('<span class="text-nowrap">{{link}}</span>')
const seen = piece(`<div>{{#each times}}<div>{{this}}</div>{{/each}}</div>`)

function resolveText({ open }: IncidentGroup): string {
  return open === 1 ? 'Resolve it…' : `Resolve all ${number(open)}…`
}

export const groupsPage = listPage(groups)
